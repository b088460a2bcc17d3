// Replay of a traced question with other settings, and the differences.
import { useState } from "preact/hooks";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Trouble } from "../parts/loaded.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { pairs, formatValue } from "../common/values.js";
import { number, percent, t } from "../common/words.js";

const DRAWN = { same: "span", added: "ins", removed: "del" };
const BADGE_KINDS = { same: "", moved: "accent", entered: "good", left: "bad" };

export function Replay({ trace }) {
  const [problem, setProblem] = useState(null);
  const [result, setResult] = useState(null);
  const [busy, setBusy] = useState(false);
  const ask = async (event) => {
    event.preventDefault();
    const form = Object.fromEntries(new FormData(event.target));
    setBusy(true);
    setProblem(null);
    try {
      const { settings, ...others } = form;
      const given = Object.fromEntries(Object.entries(others).filter(([, text]) => text));
      const body = { ...given, settings: pairs(settings) };
      setResult(await post(`/traces/${encodeURIComponent(trace.id)}/replay`, body));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  return html`<section class="card replay">
    <h2>${t("replay.title")}</h2>
    <p class="muted">${t("replay.about")}</p>
    <form onSubmit=${ask}>
      ${!trace.content && html`<${Field} label=${t("replay.question")} name="question" required hint=${t("replay.question.hint")} />`}
      <div class="two-fields">
        <${Field} label=${t("replay.settings")} name="settings" placeholder="rag.alpha=0.2 rag.fusion=rrf" spellcheck=${false}
          hint=${t("replay.settings.hint")} />
        <${Field} label=${t("replay.profile")} name="profile" placeholder="vexora" spellcheck=${false} hint=${t("replay.profile.hint")} />
      </div>
      <button class="button primary" disabled=${busy} aria-busy=${busy}>${t(busy ? "replay.asking" : "replay.ask")}</button>
    </form>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div role="status">${result && html`<${Difference} result=${result} />`}</div>
  </section>`;
}

const orNothing = (value, show) => (value == null ? "–" : show(value));

/** The table cells for the rank change of a passage. */
function moved(one) {
  const score = (value) => orNothing(value, (known) => number(known, 4));
  return [
    `${one.rank_before ?? "–"} → ${one.rank_after ?? "–"}`,
    html`${one.title ?? t("trace.passage.gone")} <small class="muted mono block clip">${one.chunk_id}</small>`,
    `${score(one.score_before)} → ${score(one.score_after)}`,
    html`<span class=${`badge ${BADGE_KINDS[one.change]}`}>${t(`replay.change.${one.change}`)}</span>`,
  ];
}

function Difference({ result }) {
  const ms = (value) => `${number(value, 1)} ms`;
  const figures = [
    ["confidence", result.confidence, percent], ["grounded", result.groundedness, percent], ["took", result.duration_ms, ms], ["model", result.model, String],
  ].filter(([, pair]) => pair.before != null || pair.after != null)
    .map(([name, { before, after }, show]) => [t(`trace.${name}`), orNothing(before, show), orNothing(after, show)]);
  const settings = Object.entries(result.settings)
    .map(([key, { before, after }]) => [html`<span class="mono">${key}</span>`, formatValue(before), formatValue(after)]);
  return html`<div class="replayed">
    <p class=${`notice ${result.changed ? "" : "good"}`}><${Icon} name=${result.changed ? "info" : "check"} />
      <span>${t(result.changed ? "replay.changed" : "replay.same")} <a href=${`/traces/${result.trace_id}`}>${t("replay.trace")}</a></span></p>
    ${result.degraded.map((note) => html`<p key=${note.stage + note.reason} class="notice warn">
      <${Icon} name="warning" />${note.stage}: ${note.reason}</p>`)}
    <${Table} title=${t("replay.figures")} head=${[t("replay.figure"), t("changes.before"), t("changes.after")]} rows=${[...settings, ...figures]} />
    ${result.answer && html`<h3>${t("replay.answer")}</h3><p class="said diff">
      ${result.answer.changes.map(({ change, text }, place) => html`<${DRAWN[change]} key=${place}>${text}</${DRAWN[change]}>`)}</p>`}
    <${Table} title=${t("replay.passages")} head=${[t("replay.rank"), t("replay.passage"), t("replay.score"), ""]}
      rows=${result.passages.map(moved)} />
  </div>`;
}

function Table({ title, head, rows }) {
  if (!rows.length) return null;
  return html`<h3>${title}</h3><div class="table" tabindex="0" role="region" aria-label=${title}><table>
    <thead><tr>${head.map((one, place) => html`<th key=${place}>
      ${one || html`<span class="hidden-text">${t("replay.change")}</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map((cells, row) => html`<tr key=${row}>${cells.map((cell, place) => html`<td key=${place}
      class="value">${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
