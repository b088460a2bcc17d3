// The parts of a score: shares of the engines, their sum, reranker and adjustments.
import { html } from "../common/html.js";
import { number, t } from "../common/words.js";

/** The placings that sum up to the fused score; with several queries, the ranks per query instead of per engine. */
export function shares({ placings }) {
  const several = placings.some((one) => one.engine === "query");
  return placings.filter((one) => !several || !["dense", "lexical"].includes(one.engine));
}

/** The explanation of a placing: its rank, and the formula of its share. */
function reason(one, explain) {
  const rank = one.rank ? [t("bench.rank", { rank: one.rank })] : [];
  const text = one.query ? [t("bench.text", { number: one.query + 1 })] : [];
  const weight = number(one.weight, 3);
  const k = one.engine === "query" ? explain.multi_query_rrf_k : explain.rrf_k;
  if (one.span === undefined) return [...text, ...rank, t("bench.share.rank", { weight, k })];
  const [raw, low, span] = [one.raw, one.low, one.span].map((value) => number(value, 4));
  return [...text, ...rank, t("bench.share.raw", { weight, raw, low, span })];
}

export function ScorePath({ explain }) {
  return html`<ol class="path">
    ${shares(explain).map((one, place) => html`<li key=${place}><span class=${`dot ${one.engine}`} aria-hidden="true"></span>
      <span class="grow">${t(`bench.engine.${one.engine}`)} <small class="muted block">${reason(one, explain).join(" · ")}</small></span>
      <span class="amount">+ ${number(one.share, 4)}</span></li>`)}
    <li class="sum"><span class="grow">${t("bench.fused")}</span><span class="amount">${number(explain.fused_score, 4)}</span></li>
    ${explain.rerank_score !== null && html`<li><span class="dot rerank" aria-hidden="true"></span>
      <span class="grow">${t("bench.reranked", { name: explain.reranker })}</span>
      <span class="amount">${number(explain.rerank_score, 4)}</span></li>`}
    ${explain.adjustments.map((one, place) => html`<li key=${`adjusted ${place}`}><span class="dot adjust" aria-hidden="true"></span>
      <span class="grow">${t(`bench.adjusted.${one.stage}`)}</span>
      <span class="amount">${one.score < one.before ? "−" : "+"} ${number(Math.abs(one.score - one.before), 4)}</span></li>`)}
    <li class="sum"><span class="grow">${t("replay.score")}</span><span class="amount">${number(explain.score, 4)}</span></li>
  </ol>`;
}
