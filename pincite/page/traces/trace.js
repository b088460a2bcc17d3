// One trace: time, duration, status, spans, stored text, and replay.
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { told } from "../common/told.js";
import { formatValue } from "../common/values.js";
import { moment, number, percent, t } from "../common/words.js";
import { Status } from "./list.js";
import { Replay } from "./replay.js";
import { Waterfall } from "./waterfall.js";

const ASKED = ["query", "chat", "search", "replay"];

export function Trace({ id, person }) {
  const loaded = useLoad(() => get(`/traces/${encodeURIComponent(id)}`), [id]);
  return html`<div class="room">
    <p><a href="/traces" class="back"><${Icon} name="back" />${t("traces.all")}</a></p>
    <${Loaded} from=${loaded}>${(trace) => html`<${Told} trace=${trace} own=${trace.owner === person?.id} />`}</${Loaded}>
  </div>`;
}

function Told({ trace, own }) {
  const { outcome } = trace;
  const facts = [
    ["when", moment(trace.started_at)], ["took", `${number(trace.duration_ms, 1)} ms`], ["strategy", trace.strategy],
    ["confidence", outcome && percent(outcome.confidence)], ["grounded", outcome && percent(outcome.groundedness)], ["model", outcome?.model],
    ["request", trace.request_id], ["id", trace.id],
  ].filter(([, value]) => value);
  return html`
    <header class="trace-head"><h1>${trace.question ?? t(`kind.${trace.kind}`)}</h1>
      <div class="bar"><span class="badge">${t(`kind.${trace.kind}`)}</span><${Status} trace=${trace} /></div></header>
    ${trace.error && html`<p class="notice bad"><${Icon} name="warning" />${told(trace.error)}</p>`}
    ${trace.degraded.map((note) => html`<p key=${note.stage + note.reason} class="notice warn"><${Icon} name="warning" /><span>
      <strong>${note.stage}</strong> ${told(note.reason)}</span></p>`)}
    <dl class="facts wide">${facts.map(([name, value]) => html`<div key=${name}><dt>${t(`trace.${name}`)}</dt><dd>${value}</dd></div>`)}</dl>
    <h2>${t("trace.steps")}</h2>
    <${Waterfall} spans=${trace.spans} total=${trace.duration_ms} />
    <${Words} content=${trace.content} own=${own} />
    <${Pairs} title=${t("trace.settings")} pairs=${trace.settings} />
    <${Pairs} title=${t("trace.options")} pairs=${trace.options} />
    ${own && ASKED.includes(trace.kind) && html`<${Replay} trace=${trace} />`}`;
}

/** The stored text of a request: question, prompt and answer. */
function Words({ content, own }) {
  if (!content) return html`<h2>${t("trace.words")}</h2><p class="notice">
    <${Icon} name="lock" />${t(own ? "trace.words.none" : "trace.words.others")}</p>`;
  const parts = [["standalone", content.standalone], ["system_prompt", content.system_prompt], ["answer", content.answer]].filter(([, text]) => text);
  return html`<h2>${t("trace.words")}</h2>
    ${parts.map(([name, text]) => html`<section key=${name}><h3>${t(`trace.words.${name}`)}</h3><p class="said">${text}</p></section>`)}
    ${(content.prompt ?? []).length > 0 && html`<section><h3>${t("trace.prompt")}</h3>
      ${content.prompt.map((message, place) => html`<details key=${place} class="prompt"><summary>${t(`trace.prompt.${message.role}`)} <span
        class="muted small">${t("trace.characters", { count: message.content.length })}</span></summary>
        <pre tabindex="0">${message.content}</pre></details>`)}</section>`}`;
}

function Pairs({ title, pairs }) {
  const list = Object.entries(pairs ?? {});
  if (!list.length) return null;
  return html`<details class="pairs"><summary><h2>${title}</h2> <span class="count">${list.length}</span></summary>
    <dl class="facts wide">${list.map(([key, value]) => html`<div key=${key}><dt class="mono">${key}</dt>
      <dd>${formatValue(value)}</dd></div>`)}</dl></details>`;
}
