// Actions on several selected documents: ask, tag, move, reindex, delete.
import { useState } from "preact/hooks";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { patch, post, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { askAbout } from "../ask/scope.js";
import { folders, lookAtFolders } from "./tree.js";

/** `documents` are the selected ones; `clear` ends the selection, `changed` reloads the list. */
export function Bulk({ documents, clear, changed }) {
  const [open, setOpen] = useState(null);
  const count = documents.length;
  if (!count) return null;
  const each = async (work) => {
    let done = 0;
    for (const one of documents) {
      try {
        await work(one);
        done += 1;
      } catch (problem) {
        toast(problem);
        break; // the others would fail in the same way
      }
    }
    toast(t("bulk.done", { count: done }));
    clear();
    changed();
    lookAtFolders();
  };
  const reindex = () => post("/documents/reindex", { document_ids: documents.map((one) => one.id) }).then(() => (toast(t("stale.begun", { count })), clear()), toast);
  const button = (name, icon, onClick) => html`<button class="button small" onClick=${onClick}><${Icon} name=${icon} />${t(`bulk.${name}`)}</button>`;
  return html`<div class="bar bulk" role="region" aria-label=${t("bulk.title")}>
    <strong role="status">${t("bulk.chosen", { count })}</strong>
    ${button("ask", "ask", () => askAbout({ documents: documents.map(({ id, title, name }) => ({ id, title, name })) }))}
    ${button("tag", "tag", () => setOpen("tag"))}
    ${button("move", "folder", () => setOpen("move"))}
    ${button("reindex", "refresh", reindex)}
    ${button("remove", "trash", () => setOpen("remove"))}
    <button class="button quiet small" onClick=${clear}>${t("bulk.clear")}</button>
    ${open === "tag" && html`<${OneField} title=${t("bulk.tag")} label=${t("documents.tags")} hint=${t("bulk.tag.hint")} close=${() => setOpen(null)}
      send=${(text) => each((one) => patch(`/documents/${one.id}`, { tags: [...new Set([...one.tags, ...text.split(",").map((tag) => tag.trim()).filter(Boolean)])] }))} />`}
    ${open === "move" && html`<${OneField} title=${t("bulk.move")} label=${t("documents.folder")} hint=${t("documents.folder.hint")} list="bulk-folders" close=${() => setOpen(null)}
      send=${(text) => each((one) => patch(`/documents/${one.id}`, { folder: text.trim() }))} />`}
    ${open === "remove" && html`<${Confirm} title=${t("removal.title")} label=${t("removal.do")} close=${() => setOpen(null)} onConfirm=${() => each((one) => remove(`/documents/${one.id}`))}>
      <p>${t("bulk.remove.question", { count })}</p><p class="muted">${t("removal.what")}</p></${Confirm}>`}
  </div>`;
}

function OneField({ title, label, hint, list, close, send }) {
  const all = folders.use();
  const submit = async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("text");
    close();
    await send(text);
  };
  return html`<${Dialog} title=${title} close=${close}><form onSubmit=${submit}>
    <${Field} label=${label} name="text" hint=${hint} list=${list} maxlength="1000" autofocus />
    ${list && html`<datalist id=${list}>${all.map(({ path }) => html`<option key=${path} value=${path}></option>`)}</datalist>`}
    <button class="button primary">${t("documents.save")}</button>
  </form></${Dialog}>`;
}
