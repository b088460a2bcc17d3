// Permissions of a document or folder: users, groups, roles, everyone.
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { get, patch } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { may } from "../shell/session.js";

/** Roles whose users can be given access. */
const ROLES = ["reader", "editor", "administrator"];

/**
 * `subject` is `{title, access, path, body, inherits}`: `path` and `body` are the request that changes its access,
 * `inherits` is the label of the inherited permissions.
 */
export function RightsDialog({ subject, person, close, done }) {
  const [users, setUsers] = useState(subject.access?.users ?? []);
  const [groups, setGroups] = useState(subject.access?.groups ?? []);
  const [roles, setRoles] = useState(subject.access?.roles ?? []);
  const [everyone, setEveryone] = useState(subject.access?.everyone ?? false);
  const [problem, setProblem] = useState(null);
  const known = useKnown(person);
  const send = async (access) => {
    try {
      done(await patch(subject.path, { ...subject.body, access }));
      toast(t("rights.done"));
      close();
    } catch (refused) {
      setProblem(refused);
    }
  };
  return html`<${Dialog} title=${t("rights.title")} close=${close} footer=${html`
      <button class="button quiet" onClick=${() => send(null)}>${subject.inherits}</button>
      <button class="button primary" onClick=${() => send({ users, groups, roles, everyone })}>${t("documents.save")}</button>`}>
    <p><strong>${subject.title}</strong></p>
    <p class="muted">${t("rights.lead")}</p>
    <${Names} label=${t("rights.users")} icon="person" names=${users} set=${setUsers} known=${known.users} />
    <${Names} label=${t("rights.groups")} icon="people" names=${groups} set=${setGroups} known=${known.groups} />
    <fieldset class="field plain"><legend>${t("rights.roles")}</legend><div class="choices">
      ${ROLES.map((role) => html`<label class="choice" key=${role}><input type="checkbox" checked=${roles.includes(role)}
        onChange=${(event) => setRoles(event.target.checked ? [...roles, role] : roles.filter((one) => one !== role))} />
        <span>${t(`role.${role}`)}</span></label>`)}</div></fieldset>
    <p><label class="choice"><input type="checkbox" checked=${everyone} onChange=${(event) => setEveryone(event.target.checked)} />
      <span>${t("rights.everyone")}</span></label></p>
    ${problem && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`}
  </${Dialog}>`;
}

/** Suggested names: all users and groups for administrators, otherwise the own groups. */
function useKnown(person) {
  const [known, setKnown] = useState({ users: [], groups: person.groups });
  useEffect(() => {
    if (!may(person.role, "administrator")) return;
    Promise.all([get("/users"), get("/groups")]).then(([users, groups]) => setKnown({
      users: users.items.filter((one) => one.id !== person.id).map((one) => one.name), groups: groups.items.map((one) => one.name),
    }), toast);
  }, []);
  return known;
}

function Names({ label, icon, names, set, known }) {
  const [text, setText] = useState("");
  const id = `names-${icon}`;
  const add = (event) => {
    event.preventDefault();
    const name = text.trim();
    if (name && !names.includes(name)) set([...names, name]);
    setText("");
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${names.length > 0 && html`<ul class="marks">${names.map((name) => html`<li key=${name} class="badge accent"><${Icon} name=${icon} />${name}
      <button class="chip-drop" aria-label=${t("rights.drop", { name })} onClick=${() => set(names.filter((one) => one !== name))}><${Icon} name="close" /></button></li>`)}</ul>`}
    <form class="bar" onSubmit=${add}>
      <input id=${id} value=${text} list=${`${id}-known`} placeholder=${t("rights.placeholder")} maxlength="100" onInput=${(event) => setText(event.target.value)} />
      <button class="button">${t("rights.add")}</button>
    </form>
    <datalist id=${`${id}-known`}>${known.filter((name) => !names.includes(name)).map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
  </div>`;
}
