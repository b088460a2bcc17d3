// The questions of a set with their ranks in a run, worst first.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";
import { Expected, SearchOnly } from "./answers.js";

const SHOWN_QUESTIONS = 25;

const bench = (text) => `/bench?q=${encodeURIComponent(text)}`;

export function Questions({ id }) {
  const loaded = useLoad(() => get(`/evaluation-sets/${encodeURIComponent(id)}`));
  return html`<div class="room">
    <p><a href="/evaluation" class="back"><${Icon} name="back" />${t("evaluation.all")}</a></p>
    <${Loaded} from=${loaded}>${(set) => html`
      <h1>${t("evaluation.set.name", { number: set.version })}</h1>
      ${set.tests === "answers" ? html`<${Expected} rows=${set.items} />` : html`${set.made_by !== "hand" && html`<${SearchOnly} />`}
        <${Table} title=${t("evaluation.questions")} rows=${set.items} />`}`}</${Loaded}>
  </div>`;
}

/** The questions of a run, sorted by rank. */
export function Asked({ run, other }) {
  const loaded = useLoad(() => get(`/evaluation-sets/${encodeURIComponent(run.set_id)}`));
  const ranks = new Map(run.ranks.map(({ question_id, rank }) => [question_id, rank]));
  const before = new Map((other?.ranks ?? []).map(({ question_id, rank }) => [question_id, rank]));
  const worth = (one) => ranks.get(one.id) ?? Infinity;
  return html`<h2 class="spaced">${t("evaluation.worst")}</h2><${Loaded} from=${loaded}>${({ items }) => html`
    <${Table} title=${t("evaluation.worst")} ranks=${ranks} before=${other && before}
      rows=${items.filter((one) => ranks.has(one.id)).sort((one, two) => worth(two) - worth(one))} />`}</${Loaded}>`;
}

function Table({ title, rows, ranks, before }) {
  const [all, setAll] = useState(false);
  return html`<div class="table" tabindex="0" role="region" aria-label=${title}><table>
    <thead><tr>
      ${ranks && html`<th class="number">${t("replay.rank")}</th>`}${before && html`<th class="number">${t("changes.before")}</th>`}
      <th>${t("traces.what")}</th><th>${t("evaluation.kind")}</th></tr></thead>
    <tbody>${(all ? rows : rows.slice(0, SHOWN_QUESTIONS)).map((one) => html`<tr key=${one.id}>
      ${ranks && html`<td class="number">${ranks.get(one.id) ?? "–"}</td>`}${before && html`<td class="number">${before.get(one.id) ?? "–"}</td>`}
      <td class="value"><a href=${bench(one.text)}>${one.text}</a>${" "}
        ${!one.current && html`<span class="badge warn">${t("evaluation.old")}</span>`}</td>
      <td>${t(`evaluation.kind.${one.kind}`)}</td>
    </tr>`)}</tbody>
  </table></div>
  ${rows.length > SHOWN_QUESTIONS && !all && html`<button class="button"
    onClick=${() => setAll(true)}>${t("evaluation.show", { count: rows.length })}</button>`}`;
}
