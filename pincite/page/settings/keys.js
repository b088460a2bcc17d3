// API keys: create, show once, revoke.
import { useState } from "preact/hooks";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Empty } from "../parts/empty.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post, remove } from "../common/api.js";
import { copy } from "../common/clipboard.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { day, t } from "../common/words.js";
import { may } from "../shell/session.js";
import { ROLES } from "./people.js";
import { FormDialog, RoleField } from "./person.js";

/** The keys of everybody, for administrators; with `own`, those of this user. */
export function Keys({ own }) {
  const path = own ? "/me/keys" : "/keys";
  const loaded = useLoad(async () => {
    const [keys, people] = await Promise.all([get(path), own ? { items: null } : get("/users")]);
    return { keys: keys.items, people: people.items };
  });
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState(null);
  const [ending, setEnding] = useState(null);
  const make = async ({ name, user, role, days }) => {
    setMade(await post(path, { name, user, role, ...(days ? { expires_days: Number(days) } : {}) }));
    loaded.reload();
  };
  const revoke = async () => {
    try {
      await remove(`${path}/${encodeURIComponent(ending.id)}`);
      toast(t("keys.revoked.done", { name: ending.name }));
    } catch (problem) {
      toast(problem);
    }
    loaded.reload();
  };
  return html`
    <header class="bar"><p class="grow muted">${t(own ? "account.keys.about" : "keys.about")}</p>
      <button class="button primary" onClick=${() => setMaking(true)}><${Icon} name="plus" />${t("keys.make")}</button></header>
    <${Loaded} from=${loaded}>${({ keys, people }) => html`
      ${keys.length ? html`<${Table} keys=${keys} people=${people} end=${setEnding} />` : html`<${Empty} icon="key"
        title=${t("keys.none")}>${t("keys.none.why")}</${Empty}>`}
      ${making && html`<${MakeKey} own=${own} people=${people} send=${make} close=${() => setMaking(false)} />`}`}</${Loaded}>
    ${made && !making && html`<${MadeKey} made=${made} close=${() => setMade(null)} />`}
    ${ending && html`<${Confirm} title=${t("keys.revoke.title", { name: ending.name })} label=${t("keys.revoke")} close=${() => setEnding(null)}
      onConfirm=${revoke}>
      <p>${t("keys.revoke.why")}</p></${Confirm}>`}`;
}

function Table({ keys, people, end }) {
  const names = new Map(people?.map((person) => [person.id, person.name]));
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("settings.tab.keys")}><table>
    <thead><tr><th>${t("people.name")}</th>${people && html`<th>${t("keys.user")}</th>`}<th>${t("people.role")}</th><th>${t("people.since")}</th>
      <th>${t("keys.until")}</th><th><span class="hidden-text">${t("people.actions")}</span></th></tr></thead>
    <tbody>${keys.map((key) => html`<tr key=${key.id}>
      <th scope="row">${key.name}</th>${people && html`<td>${names.get(key.user) ?? key.user}</td>`}<td>${t(`role.${key.role}`)}</td>
        <td class="nowrap">${day(key.created_at)}</td>
      <td class="nowrap">${key.revoked_at ? html`<span class="badge bad">${t("keys.revoked")}</span>`
        : key.expires_at ? day(key.expires_at) : t("keys.for.ever")}</td>
      <td>${!key.revoked_at && html`<button class="button quiet small" onClick=${() => end(key)}>${t("keys.revoke")}<span
        class="hidden-text"> (${key.name})</span></button>`}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function MakeKey({ own, people, send, close }) {
  const roles = own ? ROLES.filter((role) => may(own.role, role)) : [...ROLES, "metrics"];
  return html`<${FormDialog} title=${t("keys.make")} label=${t("keys.make")} send=${send} close=${close}>
    <${Field} label=${t("people.name")} name="name" required maxlength="200" autocomplete="off" hint=${t("keys.name.hint")} />
    ${people && html`<${Field} as="select" label=${t("keys.user")} name="user" hint=${t("keys.user.hint")}>
      ${people.map((person) => html`<option key=${person.id} value=${person.id}>${person.name}</option>`)}
    </${Field}>`}
    <${RoleField} label=${t("people.role")} roles=${roles} />
    <${Field} label=${t("keys.days")} name="days" type="number" min="1" max="3650" hint=${t("keys.days.hint")} />
  </${FormDialog}>`;
}

/** The dialog that shows a new key once. */
function MadeKey({ made, close }) {
  const copied = async () => ((await copy(made.key)) ? toast(t("keys.copied")) : toast(t("keys.copy.failed"), { kind: "bad" }));
  return html`<${Dialog} title=${t("keys.made", { name: made.name })} close=${close} footer=${html`<button class="button primary"
    onClick=${close}>${t("keys.kept")}</button>`}>
    <p class="notice warn"><${Icon} name="warning" />${t("keys.once")}</p>
    <div class="bar"><input class="grow mono" readonly aria-label=${t("keys.key")} value=${made.key} onFocus=${(event) => event.target.select()} />
      <button class="button" onClick=${copied}><${Icon} name="copy" />${t("keys.copy")}</button></div>
  </${Dialog}>`;
}
