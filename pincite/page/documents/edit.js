// The dialog to edit title, folder and tags of a document.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { toast } from "../parts/toast.js";
import { patch } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { folders, lookAtFolders } from "./tree.js";

export function EditDialog({ document, close, done }) {
  const all = folders.use();
  const [problem, setProblem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    const tags = given.get("tags").split(",").map((tag) => tag.trim()).filter(Boolean);
    const folder = given.get("folder").trim();
    try {
      const changed = await patch(`/documents/${document.id}`, { title: given.get("title").trim(), tags, ...(folder !== document.folder && { folder }) });
      if (changed.folder !== document.folder) lookAtFolders();
      toast(t("documents.edit.done"));
      done(changed);
      close();
    } catch (refused) {
      setProblem(refused);
    }
  };
  return html`<${Dialog} title=${t("documents.act.edit")} close=${close}>
    <form onSubmit=${send}>
      <${Field} label=${t("documents.title")} name="title" value=${document.title} required maxlength="1000" />
      <${Field} label=${t("documents.folder")} name="folder" value=${document.folder} list="all-folders" maxlength="1000"
        hint=${t("documents.folder.hint")} error=${problem?.words} />
      <datalist id="all-folders">${all.map(({ path }) => html`<option key=${path} value=${path}></option>`)}</datalist>
      <${Field} label=${t("documents.tags")} name="tags" value=${document.tags.join(", ")} hint=${t("documents.tags.hint")} />
      <button class="button primary">${t("documents.save")}</button>
    </form>
  </${Dialog}>`;
}
