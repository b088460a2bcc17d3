// The parts of a score: engines, fusion, reranker and adjustments.
import { html } from "../common/html.js";
import { number, t } from "../common/words.js";

const three = (value) => (value === null || value === undefined ? "–" : number(value, 3));

export function Path({ hit }) {
  const { placings, fused_score: fused, reranker, rerank_score: reranked, adjustments, score } = hit.explain;
  return html`<div class="table"><table class="small">
    <thead><tr><th>${t("scores.step")}</th><th class="number">${t("scores.rank")}</th><th class="number">${t("scores.raw")}</th><th class="number">${t("scores.share")}</th></tr></thead>
    <tbody>
      ${placings.map((one, place) => html`<tr key=${place}><td>${t(`scores.engine.${one.engine}`)}</td><td class="number">${one.rank}</td><td class="number">${three(one.raw)}</td><td class="number">${three(one.share)}</td></tr>`)}
      <tr><th scope="row" colspan="3">${t("scores.fused")}</th><td class="number">${three(fused)}</td></tr>
      ${reranker && html`<tr><th scope="row" colspan="3">${t("scores.reranked", { name: reranker })}</th><td class="number">${three(reranked)}</td></tr>`}
      ${adjustments.map((one, place) => html`<tr key=${`a${place}`}><td colspan="3">${t(`scores.adjusted.${one.stage}`)}</td><td class="number">${three(one.score)}</td></tr>`)}
      <tr><th scope="row" colspan="3">${t("scores.score")}</th><td class="number"><strong>${three(score)}</strong></td></tr>
    </tbody>
  </table></div>`;
}
