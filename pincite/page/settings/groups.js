// Groups, with which documents and folders can be shared.
import { useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post, put, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";
import { FormDialog } from "./person.js";

const of = (group, person) => `/groups/${encodeURIComponent(group.id)}${person ? `/members/${encodeURIComponent(person)}` : ""}`;

export function Groups({ people, changed }) {
  const loaded = useLoad(() => get("/groups"));
  const [open, setOpen] = useState(null);
  const done = () => Promise.all([loaded.reload(), changed()]);
  const act = (work) => work.then(done, toast);
  const add = async ({ name }) => {
    await post("/groups", { name });
    await done();
  };
  return html`
    <header class="bar spaced"><h2 class="grow">${t("groups.title")}</h2>
      <button class="button" onClick=${() => setOpen("add")}><${Icon} name="plus" />${t("groups.add")}</button></header>
    <${Loaded} from=${loaded}>${({ items }) => items.length ? html`<ul class="cards">
      ${items.map((group) => html`<${Group} key=${group.id} group=${group} people=${people} act=${act} drop=${() => setOpen(group)} />`)}
    </ul>` : html`<p class="muted">${t("groups.none")}</p>`}</${Loaded}>
    ${open === "add" && html`<${FormDialog} title=${t("groups.add")} label=${t("groups.add")} send=${add} close=${() => setOpen(null)}>
      <${Field} label=${t("people.name")} name="name" required maxlength="100" autocomplete="off" /></${FormDialog}>`}
    ${open?.id && html`<${Confirm} title=${t("groups.remove.title", { name: open.name })} label=${t("groups.remove")} close=${() => setOpen(null)}
      onConfirm=${() => act(remove(of(open)))}><p>${t("groups.remove.why")}</p></${Confirm}>`}`;
}

function Group({ group, people, act, drop }) {
  const known = new Map(people.map((person) => [person.id, person.name]));
  const others = people.filter((person) => !group.members.includes(person.id));
  const join = (event) => event.target.value && act(put(of(group, event.target.value), {}));
  return html`<li class="card">
    <header class="bar"><h3 class="grow">${group.name}</h3>
      <button class="icon-button small" aria-label=${t("groups.remove.of", { name: group.name })} onClick=${drop}>
        <${Icon} name="trash" /></button></header>
    <ul class="chips">${group.members.map((id) => html`<li key=${id} class="badge">${known.get(id) ?? id}
      <button class="icon-button small" aria-label=${t("groups.leave", { name: known.get(id) ?? id, group: group.name })}
        onClick=${() => act(remove(of(group, id)))}><${Icon} name="close" /></button></li>`)}
      ${group.members.length === 0 && html`<li class="muted">${t("groups.empty")}</li>`}
    </ul>
    <select aria-label=${t("groups.join", { group: group.name })} value="" onChange=${join}>
      <option value="">${t("groups.join.choose")}</option>
      ${others.map((person) => html`<option key=${person.id} value=${person.id}>${person.name}</option>`)}
    </select>
  </li>`;
}
