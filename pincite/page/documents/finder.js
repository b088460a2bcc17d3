// Search within one document, with the ranks and scores of its passages.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { number, percent, t } from "../common/words.js";

const MAX_RESULTS = 20;

export function Finder({ document, chunks, found, setFound, show }) {
  const [busy, setBusy] = useState(false);
  const [question, setQuestion] = useState("");
  const search = async (event) => {
    event.preventDefault();
    if (!question.trim()) return setFound(null);
    setBusy(true);
    try {
      setFound(await post("/search", { query: question, document_ids: [document.id], top_k: Math.min(MAX_RESULTS, chunks.length), levels: [2], explain: true }));
    } catch (problem) {
      toast(problem);
    }
    return setBusy(false);
  };
  const clear = () => {
    setQuestion("");
    setFound(null);
  };
  return html`<div class="finder">
    <form class="bar" role="search" onSubmit=${search}>
      <input value=${question} aria-label=${t("finder.title")} placeholder=${t("finder.placeholder")} maxlength="4000" onInput=${(event) => setQuestion(event.target.value)} />
      <button class="button primary" disabled=${busy}><${Icon} name="search" />${t("finder.find")}</button>
      ${found && html`<button type="button" class="button quiet" onClick=${clear}>${t("finder.clear")}</button>`}
    </form>
    <div aria-live="polite">
      ${found && (found.results.length ? html`<ol class="finds">${found.results.map((hit, place) => html`<${Find} key=${hit.id} hit=${hit} rank=${place + 1} show=${show} />`)}</ol>`
        : html`<p class="notice"><${Icon} name="info" />${t("finder.nothing")}</p>`)}
      ${found?.degraded.map((note) => html`<p key=${note.stage} class="notice warn"><${Icon} name="warning" />${note.reason}</p>`)}
    </div>
  </div>`;
}

/** One result: rank, score and the start of its text. */
function Find({ hit, rank, show }) {
  const ordinal = Number(hit.id.split(".").at(-1));
  const by = hit.explain.placings.map((one) => `${t(`scores.engine.${one.engine}`)} ${one.rank}.`).join(" · ");
  return html`<li><button onClick=${() => show(ordinal)}>
    <span class="badge accent"><strong class="rank">${t("passages.rank", { rank })}</strong>${t("passages.number", { number: ordinal })}</span>
    <span class="clip">${hit.text.trim().slice(0, 200)}</span>
    <span class="small muted nowrap">${by}</span>
    <span class="small nowrap">${t("finder.score", { score: number(hit.score, 3), relevance: percent(hit.relevance) })}</span>
  </button></li>`;
}
