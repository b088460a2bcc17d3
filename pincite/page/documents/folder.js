// The dialog to create or edit a folder.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { patch, post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { lookAtFolders } from "./tree.js";

/** `folder` is the folder, or `{path}` for a new one; `done` gets the saved folder. */
export function FolderDialog({ folder, fresh, close, done }) {
  const [problem, setProblem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    const says = { system_prompt: given.get("prompt").trim() || null, category_label: given.get("label").trim() || null };
    const path = given.get("path").trim();
    try {
      const made = fresh ? await post("/folders", { path, ...says })
        : await patch("/folders", { path: folder.path, ...(path !== folder.path && { new_path: path }), ...says });
      toast(t(fresh ? "folder.made" : "folder.changed"));
      lookAtFolders();
      done(made);
      close();
    } catch (refused) {
      setProblem(refused);
    }
  };
  return html`<${Dialog} title=${t(fresh ? "folder.make" : "folder.change")} close=${close}>
    <form onSubmit=${send}>
      <${Field} label=${t("folder.path")} name="path" value=${folder.path} required maxlength="1000" hint=${t(fresh ? "documents.folder.hint" : "folder.path.hint")} />
      <${Field} label=${t("folder.label")} name="label" value=${folder.category_label ?? ""} maxlength="200" hint=${t("folder.label.hint")} />
      <${Field} as="textarea" rows="4" label=${t("folder.prompt")} name="prompt" value=${folder.system_prompt ?? ""} maxlength="20000" hint=${t("folder.prompt.hint")} />
      ${problem && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`}
      <button class="button primary">${t(fresh ? "folder.make" : "documents.save")}</button>
    </form>
  </${Dialog}>`;
}
