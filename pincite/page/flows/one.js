// One stored flow: its nodes in order, its versions, and a run with its answer.
import { useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { Split } from "../parts/split.js";
import { get, post, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { moment, t } from "../common/words.js";
import { useKey } from "../shell/keys.js";
import { go } from "../shell/router.js";
import { SourceView } from "../source/view.js";
import { Editor } from "./editor.js";
import { pathOf } from "./listing.js";
import { Result } from "./result.js";

export function One({ name, version }) {
  const [place, setPlace] = useState(null);
  const [dialog, setDialog] = useState(null);
  const path = `/flows/${encodeURIComponent(name)}`;
  const loaded = useLoad(async () => {
    const [flow, versions] = await Promise.all([get(path, { version }), get(`${path}/versions`)]);
    return { flow, versions: versions.items };
  });
  useKey("Escape", place ? () => setPlace(null) : null);
  const saved = () => (version ? go(pathOf(name)) : loaded.reload());
  return html`<${Split} name="ask" side=${place && html`<${SourceView} place=${place} close=${() => setPlace(null)} />`}>
    <div class="room narrow">
      <p><a href="/flows" class="back"><${Icon} name="back" />${t("view.flows")}</a></p>
      <header><h1 class="grow">${name}</h1>
        ${loaded.value && html`<button class="button" onClick=${() => setDialog("edit")}><${Icon} name="edit" />${t("flows.edit")}</button>
          <button class="icon-button" aria-label=${t("flows.remove")} data-hint=${t("flows.remove")} onClick=${() => setDialog("remove")}><${Icon} name="trash" /></button>`}
      </header>
      <${Loaded} from=${loaded}>${({ flow, versions }) => html`
        <${Versions} flow=${flow} versions=${versions} />
        <${Nodes} definition=${flow.definition} />
        <${Run} key=${flow.version} flow=${flow} place=${place} show=${setPlace} />
        ${dialog === "edit" && html`<${Editor} flow=${flow} close=${() => setDialog(null)} saved=${saved} />`}`}</${Loaded}>
      ${dialog === "remove" && html`<${Confirm} title=${t("flows.remove")} label=${t("flows.remove")} close=${() => setDialog(null)}
        onConfirm=${async () => (await remove(path), go("/flows"))}><p>${t("removal.question", { name })}</p></${Confirm}>`}
    </div>
  </${Split}>`;
}

function Versions({ flow, versions }) {
  const choose = (event) => go(`${pathOf(flow.name)}${Number(event.target.value) === flow.versions ? "" : `?version=${event.target.value}`}`);
  if (versions.length < 2) return html`<p class="muted">${t("source.version", { number: flow.version, of: flow.versions, date: moment(flow.created_at) })}</p>`;
  return html`<${Field} as="select" label=${t("flows.version")} onChange=${choose}>
    ${versions.map((one) => html`<option key=${one.version} value=${one.version} selected=${one.version === flow.version}>${t("source.version", { number: one.version, of: one.versions, date: moment(one.created_at) })}</option>`)}
  </${Field}>`;
}

function Nodes({ definition }) {
  const into = (id) => (definition.edges ?? []).filter((edge) => edge.to === id).map((edge) => edge.from);
  return html`<ol class="flow-nodes" aria-label=${t("flows.nodes")}>
    ${definition.nodes.map((node) => html`<li key=${node.id} class="card">
      <header><strong>${node.id}</strong> <span class="badge">${t(`flows.type.${node.type}`)}</span></header>
      ${into(node.id).length > 0 && html`<p class="muted">${t("flows.from", { names: into(node.id).join(", ") })}</p>`}
      <${Details} node=${node} />
    </li>`)}
  </ol>`;
}

/** The fields of a node that were set. */
function Details({ node }) {
  const fields = Object.entries(node).filter(([name]) => name !== "id" && name !== "type");
  if (!fields.length) return null;
  return html`<dl class="flow-fields">${fields.map(([name, value]) => html`<div key=${name}><dt><code>${name}</code></dt>
    <dd>${Array.isArray(value) ? value.join(" · ") : String(value)}</dd></div>`)}</dl>`;
}

function Run({ flow, place, show }) {
  const [text, setText] = useState(flow.definition.input ?? "");
  const [run, setRun] = useState({});
  const start = async (event) => {
    event.preventDefault();
    setRun({ busy: true });
    try {
      setRun({ answer: await post(`/flows/${encodeURIComponent(flow.name)}/run`, { input: text.trim(), version: flow.version }) });
    } catch (problem) {
      setRun({ problem });
    }
  };
  return html`<form class="card" onSubmit=${start}>
      <${Field} as="textarea" label=${t("flows.input")} rows="2" maxlength="20000" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="button primary" disabled=${run.busy || !text.trim()}>${t(run.busy ? "flows.running" : "flows.run")}</button>
    </form>
    <div class="flow-result" aria-live="polite" aria-busy=${run.busy ? "true" : "false"}>
      ${run.busy && html`<div class="skeleton wide"></div><div class="skeleton"></div>`}
      ${run.problem && html`<${Trouble} problem=${run.problem} />`}
      ${run.answer && html`<${Result} answer=${run.answer} place=${place} show=${show} />`}
    </div>`;
}
