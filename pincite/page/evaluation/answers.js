// Judged answers: shares by kind and language, lengths and confidence, and the verdict on each question.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { number, percent, t } from "../common/words.js";

export const VERDICTS = ["right", "partly", "wrong", "wrongly refused"];
const BADGE_KINDS = { right: "good", partly: "warn", wrong: "bad", "wrongly refused": "bad" };
const WORST_FIRST = ["wrong", "wrongly refused", "partly", "right"];
const SHOWN_QUESTIONS = 25;

/** The name of a measure; the verdicts on answers are translated. */
export const measureName = (name) => VERDICTS.includes(name) ? t(`evaluation.answer.${name.replace(" ", "-")}`) : name;

const share = ({ value, low, high }) => html`${percent(value, 1)} <small class="muted nowrap">${percent(low)}–${percent(high)}</small>`;

/** The shares of the verdicts, a row for all questions and for each kind and language. */
export function Shares({ answers }) {
  return html`<h2 class="spaced">${t("evaluation.answers")}</h2>
    <p class="muted">${t("evaluation.answers.about")}</p>
    <div class="table" tabindex="0" role="region" aria-label=${t("evaluation.answers")}><table>
      <thead><tr><th>${t("evaluation.kind")}</th>${VERDICTS.map((name) => html`<th key=${name} class="number">${measureName(name)}</th>`)}
        <th class="number">${t("evaluation.questions")}</th></tr></thead>
      <tbody>${answers.groups.map((one) => html`<tr key=${`${one.by} ${one.name}`}>
        <th scope="row">${one.name || t(`evaluation.group.${one.by}`)}</th>
        ${VERDICTS.map((name) => html`<td key=${name} class="number nowrap">${name === "right" ? share(one[name]) : percent(one[name].value, 1)}</td>`)}
        <td class="number">${number(one.questions)}</td></tr>`)}</tbody>
    </table></div>
    <dl class="facts wide spaced">
      <div><dt>${t("evaluation.words")}</dt><dd>${t("evaluation.words.of", answers.words)}</dd></div>
      ${answers.confidence.map((one) => html`<div key=${one.level}><dt>${t(`evaluation.confidence.${one.level}`)}</dt>
        <dd>${t("evaluation.confidence.of", { count: one.questions, share: percent(one.right.value, 1) })}</dd></div>`)}
    </dl>`;
}

/** The questions of a run with their verdicts, worst first. */
export function Judged({ run, other }) {
  const loaded = useLoad(() => get(`/evaluation-sets/${encodeURIComponent(run.set_id)}`));
  const results = new Map(run.results.map((one) => [one.question_id, one]));
  const before = other && new Map(other.results.map((one) => [one.question_id, one]));
  const worth = (one) => WORST_FIRST.indexOf(results.get(one.id).verdict);
  return html`<h2 class="spaced">${t("evaluation.worst")}</h2><${Loaded} from=${loaded}>${({ items }) => html`
    <${Table} results=${results} before=${before}
      rows=${items.filter((one) => results.has(one.id)).sort((one, two) => worth(one) - worth(two))} />`}</${Loaded}>`;
}

function Table({ rows, results, before }) {
  const [all, setAll] = useState(false);
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("evaluation.worst")}><table>
    <thead><tr><th>${t("evaluation.verdict")}</th>${before && html`<th>${t("changes.before")}</th>`}<th>${t("traces.what")}</th>
      <th>${t("evaluation.reason")}</th><th>${t("evaluation.kind")}</th></tr></thead>
    <tbody>${(all ? rows : rows.slice(0, SHOWN_QUESTIONS)).map((one) => html`<tr key=${one.id}>
      <td><${Verdict} of=${results.get(one.id)} /></td>${before && html`<td><${Verdict} of=${before.get(one.id)} /></td>`}
      <td class="value"><a href=${`/ask?q=${encodeURIComponent(one.text)}`}>${one.text}</a></td>
      <td class="value small">${results.get(one.id).reason}</td><td>${one.kind}</td>
    </tr>`)}</tbody>
  </table></div>
  ${rows.length > SHOWN_QUESTIONS && !all && html`<button class="button"
    onClick=${() => setAll(true)}>${t("evaluation.show", { count: rows.length })}</button>`}`;
}

const Verdict = ({ of }) => of ? html`<span class=${`badge ${BADGE_KINDS[of.verdict]}`}>${measureName(of.verdict)}</span>` : "–";

/** The questions of an imported set with what their answers must contain. */
export function Expected({ rows }) {
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("evaluation.questions")}><table>
    <thead><tr><th>${t("traces.what")}</th><th>${t("evaluation.expected")}</th><th>${t("evaluation.sources")}</th><th>${t("evaluation.kind")}</th></tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.id}>
      <td class="value">${one.text}</td>
      <td class="value">${one.expect === "refuse" ? html`<span class="badge">${t("evaluation.expected.refuse")}</span>`
        : one.gold.map((group) => html`<span key=${group.join()} class="block">${group.join(" / ")}</span>`)}</td>
      <td class="value small">${one.sources.map((name) => html`<span key=${name} class="block">${name}</span>`)}</td><td>${one.kind}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

/** Read a file with one question per line. */
export const parseLines = (text) => text.split("\n").map((line, place) => ({ line, place })).filter(({ line }) => line.trim())
  .map(({ line, place }) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(t("evaluation.import.wrong", { line: place + 1 }));
    }
  });

/** The notice that generated questions measure search only. */
export const SearchOnly = () => html`<p class="notice"><${Icon} name="info" /><span>${t("evaluation.search-only")}</span></p>`;
