// Change the own password; all sessions end.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { toast } from "../parts/toast.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { session } from "./session.js";

export function PasswordDialog({ close }) {
  const [problem, setProblem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    try {
      await post("/me/password", { old_password: given.get("old"), new_password: given.get("new") });
      close();
      toast(t("password.changed"));
      await session.load();
    } catch (refused) {
      setProblem(refused);
    }
  };
  const wrong = (code) => (problem?.code === code ? problem.words : null);
  const other = problem && !["wrong_password", "weak_password"].includes(problem.code);
  return html`<${Dialog} title=${t("password.title")} close=${close}>
    <form onSubmit=${send}>
      <input type="text" name="username" autocomplete="username" value=${session.person?.name} hidden />
      <${Field} label=${t("password.old")} name="old" type="password" autocomplete="current-password" required maxlength="1000" error=${wrong("wrong_password")} />
      <${Field} label=${t("password.new")} name="new" type="password" autocomplete="new-password" required minlength="10" maxlength="1000"
        hint=${t("setup.password.hint")} error=${wrong("weak_password")} />
      ${other && html`<p class="notice bad" role="alert">${problem.words}</p>`}
      <p class="muted small">${t("password.ends")}</p>
      <button class="button primary">${t("password.title")}</button>
    </form>
  </${Dialog}>`;
}
