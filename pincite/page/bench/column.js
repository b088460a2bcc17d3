// The results of one configuration, compared with the first configuration.
import { Icon } from "../parts/icon.js";
import { Trouble } from "../parts/loaded.js";
import { html } from "../common/html.js";
import { headings } from "../common/quotes.js";
import { number, t } from "../common/words.js";
import { Result } from "./result.js";

/** The label of a configuration: its own values. */
export const name = ({ strategy, profile, settings }, place) =>
  `${place + 1} · ${[strategy, profile, settings].filter(Boolean).join(" · ") || t("bench.as.is")}`;

export function Column({ title, found, first, marks, hot, setHot }) {
  return html`<section class="column" aria-label=${title}>
    <h2 class="clip">${title}</h2>
    ${!found ? html`<div aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div><div class="skeleton"></div></div>`
      : found.problem ? html`<${Trouble} problem=${found.problem} />`
      : html`<${Results} found=${found} first=${first} marks=${marks} hot=${hot} setHot=${setHot} />`}
  </section>`;
}

function Results({ found, first, marks, hot, setHot }) {
  const { results } = found;
  const before = new Map((first?.results ?? []).map((one, place) => [one.id, place + 1]));
  const here = new Set(results.map((one) => one.id));
  const most = Math.max(...results.map((one) => one.score), 1e-9);
  const gone = (first?.results ?? []).filter((one) => !here.has(one.id));
  const changes = (id, rank) => (first?.results ? { rank: before.get(id) ?? null, moved: before.has(id) ? before.get(id) - rank : null } : null);
  return html`
    <p class="small muted">${found.strategy} · ${t("bench.found", { count: results.length })} · ${number(found.ms)} ms · <a
      href=${`/traces/${found.trace_id}`}>${t("trace.id")}</a></p>
    ${found.corrected_query && html`<p class="small">${t("bench.corrected", { text: found.corrected_query })}</p>`}
    ${found.degraded.map((note) => html`<p key=${note.stage + note.reason} class="notice warn small">
      <${Icon} name="warning" />${note.stage}: ${note.reason}</p>`)}
    ${results.length === 0 && html`<p class="muted">${t("bench.nothing")}</p>`}
    <ol class="results">${results.map((one, place) => html`<${Result} key=${one.id} hit=${one} rank=${place + 1} most=${most}
      change=${changes(one.id, place + 1)}
      marks=${marks} hot=${hot === one.id} setHot=${setHot} />`)}</ol>
    ${gone.length > 0 && html`<details class="gone"><summary>${t("bench.gone", { count: gone.length })}</summary>
      <ul>${gone.map((one) => html`<li key=${one.id} class="small">${before.get(one.id)} · ${one.metadata.title} <span
        class="muted">${headings(one.metadata).join(" › ")}</span></li>`)}</ul></details>`}`;
}
