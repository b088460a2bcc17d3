// Usage and limits of a user; a user's own limit overrides the settings.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, patch } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { bytes, number, t } from "../common/words.js";

const shown = (name, value) => (name === "storage_bytes" ? bytes(value) : number(value));

export function Usage({ person, close }) {
  const address = `/users/${encodeURIComponent(person.id)}`;
  const loaded = useLoad(() => get(`${address}/usage`));
  const set = (name, value) => patch(address, { limits: { [name]: value } }).then(loaded.reload, toast);
  return html`<${Dialog} title=${t("usage.title", { name: person.name })} close=${close}>
    <${Loaded} from=${loaded}>${({ usage, limits, own }) => html`
      <dl class="facts">${Object.entries(usage).map(([name, value]) => html`<div key=${name}><dt>${t(`usage.${name}`)}</dt>
        <dd>${shown(name, value)}</dd></div>`)}</dl>
      <h3>${t("usage.limits")}</h3>
      <p class="small muted">${t("usage.limits.about")}</p>
      ${Object.entries(limits).map(([name, value]) => html`<${Limit} key=${`${name} ${value}`} name=${name} value=${value} own=${own.includes(name)}
        set=${set} />`)}`}
    </${Loaded}>
  </${Dialog}>`;
}

function Limit({ name, value, own, set }) {
  const [text, setText] = useState(String(value));
  const save = (event) => {
    event.preventDefault();
    set(name, Number(text));
  };
  return html`<form class="bar limit" onSubmit=${save}>
    <label class="mono grow" for=${`limit-${name}`}>${name}</label>
    <input id=${`limit-${name}`} inputmode="numeric" value=${text} onInput=${(event) => setText(event.target.value)} />
    <button class="button small" disabled=${text === String(value) || !/^\d+$/.test(text)}>${t("settings.save")}</button>
    ${own && html`<button type="button" class="button quiet small" onClick=${() => set(name, null)}>${t("settings.reset")}</button>`}
  </form>`;
}
