// First run: create the administrator, add sample documents, and ask a first question.
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { session } from "../shell/session.js";
import { Samples } from "./samples.js";

export default function Setup({ person }) {
  const [token] = useState(() => location.hash.slice(1));
  if (person) return html`<div class="door wide"><${Samples} person=${person} /></div>`;
  if (!token)
    return html`<${Empty} heading="h1" icon="key" title=${t("setup.lost")} action=${{ label: t("login.title"), href: "/login" }}>${t("setup.lost.why")}</${Empty}>`;
  return html`<div class="door"><${FirstAdministrator} token=${token} /></div>`;
}

function FirstAdministrator({ token }) {
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const form = useRef();
  useEffect(() => form.current.querySelector("input").focus(), []);
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    setBusy(true);
    setProblem(null);
    try {
      await post("/auth/setup", { token, name: given.get("name"), password: given.get("password") }, { quiet: true });
      go("/setup", { replace: true }); // the token is used up and is removed from the URL
      await session.load();
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const weak = problem?.code === "weak_password";
  return html`
    <p class="brand"><${Icon} name="mark" />pincite</p>
    <h1>${t("setup.title")}</h1>
    <p class="muted">${t("setup.lead")}</p>
    <form onSubmit=${send} ref=${form}>
      <${Field} label=${t("setup.name")} name="name" autocomplete="username" required maxlength="100" autocapitalize="none" spellcheck=${false} />
      <${Field} label=${t("login.password")} name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="1000"
        hint=${t("setup.password.hint")} error=${weak ? problem.words : null} />
      <div role="alert">${problem && !weak && html`<p class="notice bad"><${Icon} name="warning" />
        <span>${problem.words} ${problem.code === "setup_done" && html`<a href="/login">${t("login.title")}</a>`}</span></p>`}</div>
      <button class="button primary" disabled=${busy}>${t("setup.send")}</button>
    </form>`;
}
