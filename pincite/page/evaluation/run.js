// One run: metrics with intervals, compared with another run of the same set, and ranks of the questions.
import { useEffect } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Plot } from "../parts/plot.js";
import { Progress } from "../parts/progress.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { moment, number, percent, t } from "../common/words.js";
import { Judged, Shares, measureName } from "./answers.js";
import { State, interval } from "./overview.js";
import { Asked } from "./questions.js";

const BADGE_KINDS = { better: "good", worse: "bad", "within noise": "" };
const PLACES = [["1", 1, 1], ["2", 2, 2], ["3", 3, 3], ["4–5", 4, 5], ["6–10", 6, 10], ["11–100", 11, Infinity]];

export function Run({ id, against }) {
  const loaded = useLoad(async () => {
    const run = await get(`/evaluations/${encodeURIComponent(id)}`, { against });
    const other = run.against ? await get(`/evaluations/${encodeURIComponent(run.against.id)}`) : null;
    return { run, other };
  }, [id, against]);
  const running = loaded.value?.run.status === "running";
  useEffect(() => {
    if (!running) return undefined;
    const timer = setTimeout(loaded.reload, 1000);
    return () => clearTimeout(timer);
  }, [loaded.value]);
  return html`<div class="room">
    <p><a href="/evaluation" class="back"><${Icon} name="back" />${t("evaluation.all")}</a></p>
    <${Loaded} from=${loaded}>${({ run, other }) => html`
      <header class="trace-head"><h1>${t("evaluation.title", { when: moment(run.started_at) })}</h1><${State} run=${run} /></header>
      ${running ? html`<${Progress} label=${t("evaluation.running")} value=${run.progress} />` : run.measures && html`<${Figures} run=${run}
        other=${other} />`}`}</${Loaded}>
  </div>`;
}

/** The labels of the run and of the run it is compared with. */
const both = (run, other) => [
  { name: t("evaluation.this"), of: run },
  ...(other ? [{ name: t("evaluation.run.of", { when: moment(other.started_at) }), of: other }] : []),
];

function Figures({ run, other }) {
  return html`
    <dl class="facts wide">
      <div><dt>${t("evaluation.set")}</dt><dd>
        <a href=${`/evaluation/sets/${run.set_id}`}>${t("evaluation.set.name", { number: run.set_version })}</a></dd></div>
      <div><dt>${t("evaluation.questions")}</dt><dd>${number(run.questions)}</dd></div>
      <div><dt>p50, p95</dt><dd>${number(run.p50_ms, 1)} ms, ${number(run.p95_ms, 1)} ms</dd></div>
      ${Object.entries(run.settings).map(([key, value]) => html`<div key=${key}><dt class="mono">${key}</dt><dd>${formatValue(value)}</dd></div>`)}
    </dl>
    ${run.notes.map((note) => html`<p key=${note} class="notice warn"><${Icon} name="warning" />${note}</p>`)}
    ${other && html`<p class="notice"><${Icon} name="info" /><span>${t("evaluation.against", { count: run.against.questions })} <a
      href=${`/evaluation/${other.id}`}>${moment(other.started_at)}</a></span></p>`}
    ${run.tests === "answers" ? html`<${Shares} answers=${run.answers} />${other && html`<${Measures} run=${run} other=${other} />`}
      <${Judged} run=${run} other=${other} />` : html`<p class="muted">${t("evaluation.search-run")}</p><${Ranking} run=${run} other=${other} />`}`;
}

/** The figures of a run that measured search. */
function Ranking({ run, other }) {
  const names = Object.keys(run.measures);
  const points = (measures) => names.map((name, x) => ({ x, ...measures[name] }));
  const series = both(run, other).map(({ name, of }) => ({ name, points: points(of.measures) }));
  return html`<${Measures} run=${run} other=${other} />
    <div class="plots">
      <${Plot} title=${t("evaluation.measures")} about=${t("evaluation.interval")} series=${series} x=${[-0.5, names.length - 0.5]} ticks=${names} />
      <${Ranks} run=${run} other=${other} />
      ${run.reliability.length > 0 && html`<${Reliability} run=${run} />`}
    </div>
    <${Asked} run=${run} other=${other} />`;
}

function Measures({ run, other }) {
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("evaluation.measures")}><table>
    <thead><tr><th>${t("evaluation.measure")}</th><th>${t("evaluation.this")}</th>${other && html`<th>${t("changes.before")}</th>
      <th>${t("evaluation.difference")}</th><th>${t("evaluation.verdict")}</th>`}</tr></thead>
    <tbody>${Object.entries(run.measures).map(([name, one]) => {
      const change = run.against?.measures[name];
      return html`<tr key=${name}><th scope="row">${measureName(name)}</th><td class="nowrap">${interval(one)}</td>
        ${other && html`<td class="nowrap">${interval(other.measures[name])}</td><td class="nowrap">${interval(change)}</td><td>
          <span class=${`badge ${BADGE_KINDS[change.verdict]}`}>${t(`evaluation.verdict.${change.verdict.replace(" ", "-")}`)}</span></td>`}</tr>`;
    })}</tbody>
  </table></div>`;
}

/** The number of questions by rank of the first relevant passage. */
function Ranks({ run, other }) {
  const within = (ranks, from, to) => ranks.filter(({ rank }) => rank !== null && rank >= from && rank <= to).length;
  const missed = (ranks) => ranks.filter(({ rank }) => rank === null).length;
  const counted = ({ ranks }) => [...PLACES.map(([, from, to]) => within(ranks, from, to)), missed(ranks)];
  const labels = [...PLACES.map(([label]) => label), t("evaluation.missed")];
  const series = both(run, other).map(({ name, of }) => ({ name, bars: true, points: counted(of).map((value, x) => ({ x, value })) }));
  const most = Math.max(1, ...series.flatMap(({ points }) => points.map((point) => point.value)));
  return html`<${Plot} title=${t("evaluation.ranks")} about=${t("evaluation.ranks.about")} series=${series} x=${[-0.6, labels.length - 0.4]}
    y=${[0, most * 1.08]} ticks=${labels} />`;
}

/** The calibration of relevance. */
function Reliability({ run }) {
  const points = run.reliability.map((bin) => ({ x: bin.predicted, ...bin.observed }));
  return html`<div>
    <${Plot} title=${t("evaluation.reliability")} about=${t("evaluation.reliability.about")} series=${[{ name: t("evaluation.this"), points }]}
      x=${[0, 1]} diagonal
      labels=${{ x: t("evaluation.predicted"), y: t("evaluation.observed") }} />
    <details><summary>${t("evaluation.reliability.table")}</summary>
      <div class="table" tabindex="0" role="region" aria-label=${t("evaluation.reliability")}><table>
      <thead><tr><th>${t("evaluation.predicted")}</th><th class="number">${t("evaluation.questions")}</th>
        <th>${t("evaluation.observed")}</th></tr></thead>
      <tbody>${run.reliability.map((bin) => html`<tr key=${bin.low}><td>${percent(bin.low)}–${percent(bin.high)}</td>
        <td class="number">${number(bin.questions)}</td><td>${interval(bin.observed, 2)}</td></tr>`)}</tbody>
    </table></div></details>
  </div>`;
}
