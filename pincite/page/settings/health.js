// Health: components, library sizes, request statistics, and the indexes.
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { number, t } from "../common/words.js";
import { Indexes } from "./indexes.js";

const TIMES = "pincite_request_seconds";

export function Health() {
  const loaded = useLoad(() => get("/health/details"));
  return html`<${Loaded} from=${loaded}>${(details) => html`
    <header class="bar"><span class="badge good">${t("health.ok")}</span><span class="grow"></span>
      <button class="button" onClick=${loaded.reload}>${t("health.again")}</button></header>
    <div class="cards">
      <section class="card"><h2>${t("health.made.of")}</h2><${Facts} pairs=${[
        ["pincite", details.version], ...flat("database", details.database), ...flat("embedding", details.embedding),
        ...flat("llm", details.llm), ["reranker", details.reranker],
      ]} /></section>
      <section class="card"><h2>${t("health.library")}</h2><${Facts} pairs=${[
        ...labelled(t("health.documents"), details.metrics.pincite_documents),
        ...labelled(t("health.passages"), details.metrics.pincite_library_chunks),
        ...labelled(t("health.queue"), details.metrics.pincite_queue_length), [t("health.stale"), details.stale_documents],
      ]} /></section>
      <section class="card"><h2>${t("health.since")}</h2><${Requests} metrics=${details.metrics} /></section>
    </div>
    <${Indexes} stale=${details.stale_documents} />`}</${Loaded}>`;
}

const flat = (name, part) =>
  part && typeof part === "object" ? Object.entries(part).map(([key, value]) => [`${name} ${key}`, value]) : [[name, part]];
const labelled = (name, sizes = {}) => Object.entries(sizes).map(([label, value]) => [`${name} ${label.split("=")[1] ?? ""}`, value]);

function Facts({ pairs }) {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${formatValue(value)}</dd></div>`)}</dl>`;
}

/** Requests of this process: count, failures and mean duration by kind. */
function Requests({ metrics }) {
  const kinds = Object.entries(metrics.pincite_requests_total ?? {}).map(([label, count]) => {
    const kind = label.split("=")[1];
    const errors = Object.entries(metrics.pincite_errors_total ?? {}).filter(([one]) => one.split(",").includes(label));
    const failed = errors.reduce((sum, [, amount]) => sum + amount, 0);
    const mean = (1000 * (metrics[`${TIMES}_sum`]?.[label] ?? 0)) / (metrics[`${TIMES}_count`]?.[label] || 1);
    return { kind, count, failed, mean };
  });
  if (!kinds.length) return html`<p class="muted">${t("health.nothing")}</p>`;
  return html`<div class="scrolled" tabindex="0" role="region" aria-label=${t("health.since")}><table>
    <thead><tr><th>${t("health.kind")}</th><th class="number">${t("health.count")}</th><th class="number">${t("health.failed")}</th>
      <th class="number">${t("health.mean")}</th></tr></thead>
    <tbody>${kinds.map(({ kind, count, failed, mean }) => html`<tr key=${kind}><th scope="row">${t(`kind.${kind}`)}</th>
      <td class="number">${number(count)}</td><td class="number">${number(failed)}</td>
      <td class="number nowrap">${number(mean, 1)} ms</td></tr>`)}</tbody>
  </table></div>`;
}
