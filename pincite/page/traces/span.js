// One span: result, attributes and passages.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { headings } from "../common/quotes.js";
import { formatValue } from "../common/values.js";
import { number, t } from "../common/words.js";

export function Span({ span, close }) {
  const { hits, ...facts } = span.attributes;
  return html`<aside class="card" aria-label=${span.name}>
    <header class="bar"><h3 class="grow mono">${span.name}</h3>
      <button class="icon-button small" aria-label=${t("dialog.close")} onClick=${close}><${Icon} name="close" /></button></header>
    ${span.error && html`<p class="notice bad"><${Icon} name="warning" />${span.error}</p>`}
    <dl class="facts">
      <div><dt>${t("trace.started")}</dt><dd>${number(span.started_ms, 2)} ms</dd></div>
      <div><dt>${t("trace.took")}</dt><dd>${number(span.duration_ms, 2)} ms</dd></div>
      ${Object.entries(facts).map(([name, value]) => html`<div key=${name}><dt class="mono">${name}</dt><dd>${formatValue(value)}</dd></div>`)}
    </dl>
    ${Array.isArray(hits) && html`<h4>${t("trace.passages", { count: hits.length })}</h4>
      <ol class="passages">${hits.map(([id, score]) => html`<${Passage} key=${id} id=${id} score=${score} />`)}</ol>`}
  </aside>`;
}

/** A passage by its id; its text is loaded when it is opened, if the user may still read it. */
export function Passage({ id, score }) {
  const [open, setOpen] = useState(false);
  return html`<li><details onToggle=${(event) => setOpen(event.target.open)}>
    <summary><span class="mono clip">${id}</span>${score != null && html`<span class="badge">${number(score, 4)}</span>`}</summary>
    ${open && html`<${Text} id=${id} />`}
  </details></li>`;
}

function Text({ id }) {
  const loaded = useLoad(() => passageOf(id));
  return html`<${Loaded} from=${loaded}>${(chunk) => chunk
    ? html`<p class="small muted">${headings(chunk).join(" › ")} ${chunk.place ?? ""}</p><p class="said small">${chunk.text}</p>`
    : html`<p class="muted small">${t("trace.passage.gone")}</p>`}</${Loaded}>`;
}

/** Load the text of a passage; its id consists of document, version and ordinal. */
async function passageOf(id) {
  const [document, version, ordinal] = id.split(".");
  const before = Number(ordinal) - 1;
  try {
    const { items } = await get(`/documents/${encodeURIComponent(document)}/chunks`, { version, limit: 1, cursor: before >= 0 ? before : null });
    return items[0]?.id === id ? items[0] : false;
  } catch (problem) {
    if (problem.status === 404) return false;
    throw problem;
  }
}
