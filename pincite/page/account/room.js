// The own account: name, role, groups, password and keys.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Keys } from "../settings/keys.js";
import { PasswordDialog } from "../shell/password.js";

export default function Account({ person }) {
  const [passwordOpen, openPassword] = useState(false);
  const facts = [[t("people.name"), person.name], [t("account.role"), `${t(`role.${person.role}`)}: ${t(`role.${person.role}.may`)}`], [t("account.groups"), person.groups.join(", ")]];
  return html`<div class="room">
    <header><h1>${t("view.account")}</h1>
      <button class="button" onClick=${() => openPassword(true)}><${Icon} name="lock" />${t("password.title")}</button></header>
    <dl class="facts">${facts.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <h2 class="spaced">${t("account.keys")}</h2>
    <${Keys} own=${person} />
    ${passwordOpen && html`<${PasswordDialog} close=${() => openPassword(false)} />`}
  </div>`;
}
