// Notes on an answer: confidence, limitations, and conflicts between sources.
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { told } from "../common/told.js";
import { readableQuote } from "../common/quotes.js";
import { day, percent, t } from "../common/words.js";
import { unsupported } from "./answer.js";
import { placeOfStatement } from "./places.js";

const KINDS = { high: "good", medium: "warn", low: "bad" };

export function Trust({ answer }) {
  const { level, score, reason } = answer.confidence;
  const count = unsupported(answer).length;
  return html`<p class="trust">
    <span class=${`badge ${KINDS[level]}`}>${t(`ask.confidence.${level}`)} ${percent(score)}</span>
    <span class="muted">${told(reason)}</span>
    ${count > 0 && html`<span class="unsupported-note"><span class="unsupported">${t("ask.unsupported", { count })}</span></span>`}
  </p>`;
}

/** Degraded stages, warnings, uncovered aspects, spelling correction and cache hit. */
export function Notes({ answer }) {
  const { missing_aspects: missing } = answer.context_sufficiency;
  const { corrected_query: corrected, cached } = answer.metadata;
  const notes = [
    ...answer.degraded.map(({ stage, reason }) => ({ icon: "warning", kind: "warn", text: t("ask.degraded", { stage, reason: told(reason) }) })),
    ...answer.warnings.map((text) => ({ icon: "info", kind: "", text: told(text) })),
    ...(missing.length ? [{ icon: "info", kind: "", text: t("ask.missing", { what: missing.join(", ") }) }] : []),
    ...(corrected ? [{ icon: "edit", kind: "", text: t("ask.corrected", { text: corrected }) }] : []),
    ...(cached ? [{ icon: "clock", kind: "", text: t("ask.cached") }] : []),
  ];
  if (!notes.length) return null;
  return html`<ul class="notes">${notes.map(({ icon, kind, text }) => html`<li key=${text} class=${kind}><${Icon} name=${icon} /><span>${text}</span></li>`)}</ul>`;
}

/** Contradicting statements, side by side with their dates. */
export function Conflicts({ conflicts, show }) {
  const told = conflicts.filter((one) => one.statements?.length > 1);
  if (!told.length) return null;
  return html`<section class="conflicts">
    <h3><${Icon} name="warning" />${t("ask.conflicts")}</h3>
    ${told.map((conflict) => html`<div key=${conflict.subject} class="conflict">
      ${conflict.subject && html`<p class="muted">${t("ask.conflict.about", { subject: conflict.subject })}</p>`}
      <div class="sides">
        ${conflict.statements.map((one) => html`<button key=${`${one.document_id}${one.start_char}`} class="card side" onClick=${() => show(placeOfStatement(one))}>
          <blockquote>${readableQuote(one.quote)}</blockquote>
          <span><strong>${one.title}</strong>${one.date && html` <span class="muted nowrap">${day(one.date)}</span>`}</span>
        </button>`)}
      </div>
    </div>`)}
  </section>`;
}
