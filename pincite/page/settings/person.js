// Dialogs to add a user and to set a password.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { toast } from "../parts/toast.js";
import { patch, post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { ROLES } from "./people.js";

/** A form dialog: shows errors, and closes on success. */
export function FormDialog({ title, label, send, close, children }) {
  const [problem, setProblem] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await send(Object.fromEntries(new FormData(event.target)));
      close();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${problem && html`<p class="notice bad" role="alert">${problem.words ?? problem.message}</p>`}
      ${children}
      <div class="bar end"><button type="button" class="button" onClick=${close}>${t("dialog.cancel")}</button>
        <button class="button primary">${label}</button></div>
    </form>
  </${Dialog}>`;
}

export function AddPerson({ close }) {
  const send = async ({ name, role, password }) => {
    await post("/users", { name, role, ...(password ? { password } : {}) });
    toast(t("people.added", { name }));
  };
  return html`<${FormDialog} title=${t("people.add")} label=${t("people.add")} send=${send} close=${close}>
    <${Field} label=${t("people.name")} name="name" required maxlength="100" autocomplete="off" hint=${t("people.name.hint")} />
    <${RoleField} label=${t("people.role")} />
    <${Field} label=${t("people.password.label")} name="password" type="password" autocomplete="new-password" hint=${t("people.password.hint")} />
  </${FormDialog}>`;
}

/** The role select, with the description of the role. */
export function RoleField({ label, roles = ROLES }) {
  const [role, setRole] = useState(roles[0]);
  return html`<${Field} as="select" label=${label} name="role" value=${role} hint=${t(`role.${role}.may`)}
    onChange=${(event) => setRole(event.target.value)}>
    ${roles.map((one) => html`<option key=${one} value=${one} selected=${one === role}>${t(`role.${one}`)}</option>`)}
  </${Field}>`;
}

export function SetPassword({ person, close }) {
  const send = async ({ password }) => {
    await patch(`/users/${encodeURIComponent(person.id)}`, { password });
    toast(t("people.password.set", { name: person.name }));
  };
  return html`<${FormDialog} title=${t("people.password.of", { name: person.name })} label=${t("people.password")} send=${send} close=${close}>
    <${Field} label=${t("people.password.label")} name="password" type="password" required autocomplete="new-password"
      hint=${t("people.password.ends")} />
  </${FormDialog}>`;
}
