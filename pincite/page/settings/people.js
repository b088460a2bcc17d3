// Users with their roles and limits, and groups.
import { useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Menu } from "../parts/menu.js";
import { toast } from "../parts/toast.js";
import { get, patch, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { day, t } from "../common/words.js";
import { Groups } from "./groups.js";
import { AddPerson, SetPassword } from "./person.js";
import { Usage } from "./usage.js";

export const ROLES = ["reader", "editor", "administrator"];

export function People() {
  const loaded = useLoad(() => get("/users"));
  const [open, setOpen] = useState(null);
  const shut = () => (setOpen(null), loaded.reload());
  const dialogs = { add: AddPerson, password: SetPassword, usage: Usage, remove: RemovePerson };
  const Shown = open && dialogs[open.what];
  return html`
    <header class="bar"><h2 class="grow">${t("people.users")}</h2>
      <button class="button primary" onClick=${() => setOpen({ what: "add" })}><${Icon} name="plus" />${t("people.add")}</button></header>
    <${Loaded} from=${loaded}>${({ items }) => html`<${Users} people=${items} open=${setOpen} reload=${loaded.reload} />
      <${Groups} people=${items} changed=${loaded.reload} />`}</${Loaded}>
    ${Shown && html`<${Shown} person=${open.person} close=${shut} />`}`;
}

function Users({ people, open, reload }) {
  const change = (person, body) => patch(`/users/${encodeURIComponent(person.id)}`, body).then(reload, (problem) => (toast(problem), reload()));
  const acts = (person) => [
    { label: t("people.usage"), icon: "info", onClick: () => open({ what: "usage", person }) },
    { label: t("people.password"), icon: "lock", onClick: () => open({ what: "password", person }) },
    { label: t(person.suspended ? "people.admit" : "people.suspend"), icon: "stop", onClick: () => change(person, { suspended: !person.suspended }) },
    null,
    { label: t("people.remove"), icon: "trash", danger: true, onClick: () => open({ what: "remove", person }) },
  ];
  return html`<div class="table roomy" tabindex="0" role="region" aria-label=${t("people.users")}><table>
    <thead><tr><th>${t("people.name")}</th><th>${t("people.role")}</th><th>${t("people.groups")}</th><th class="number">${t("people.documents")}</th>
      <th>${t("people.since")}</th><th><span class="hidden-text">${t("people.actions")}</span></th></tr></thead>
    <tbody>${people.map((person) => html`<tr key=${person.id}>
      <th scope="row">${person.name} ${person.suspended && html`<span class="badge bad">${t("people.suspended")}</span>`}</th>
      <td><select aria-label=${t("people.role.of", { name: person.name })} value=${person.role}
        onChange=${(event) => change(person, { role: event.target.value })}>
        ${ROLES.map((role) => html`<option key=${role} value=${role} selected=${role === person.role}>${t(`role.${role}`)}</option>`)}</select></td>
      <td>${person.groups.join(", ") || "–"}</td>
      <td class="number">${person.documents}</td>
      <td class="nowrap">${day(person.created_at)}</td>
      <td><${Menu} label=${t("people.actions.of", { name: person.name })} items=${acts(person)} /></td>
    </tr>`)}</tbody>
  </table></div>`;
}

function RemovePerson({ person, close }) {
  const sure = () => remove(`/users/${encodeURIComponent(person.id)}`).then(() => toast(t("people.removed", { name: person.name })), toast);
  return html`<${Confirm} title=${t("people.remove.title", { name: person.name })} label=${t("people.remove")} close=${close} onConfirm=${sure}>
    <p>${t("people.remove.why")}</p></${Confirm}>`;
}
