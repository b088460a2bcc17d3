// Runs and question sets, and the form to start a run; a running one is polled.
import { useEffect, useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Plot } from "../parts/plot.js";
import { Progress } from "../parts/progress.js";
import { toast } from "../parts/toast.js";
import { get, post, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { day, moment, number, t } from "../common/words.js";
import { go } from "../shell/router.js";
import { measureName, parseLines } from "./answers.js";
import { Start } from "./start.js";
import { Tuning } from "./tuning.js";

const FOLLOW_MS = 1000;

/** The name of the main measure of a run. */
export const mainOf = (run) => Object.keys(run.measures)[0];

export function Overview() {
  const loaded = useLoad(async () => {
    const [runs, sets] = await Promise.all([get("/evaluations", { limit: 100 }), get("/evaluation-sets")]);
    return { runs: runs.items, sets: sets.items };
  });
  const running = loaded.value?.runs.some((run) => run.status === "running");
  useEffect(() => {
    if (!running) return undefined;
    const timer = setTimeout(loaded.reload, FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [loaded.value]);
  return html`<div class="room">
    <header><h1>${t("view.evaluation")}</h1></header>
    <${Loaded} from=${loaded}>${({ runs, sets }) => html`
      <${Start} sets=${sets} running=${running} started=${loaded.reload} />
      <h2 class="spaced">${t("evaluation.runs")}</h2>
      ${runs.length ? html`<${Runs} runs=${runs} />
        <${Course} runs=${runs} />` : html`<${Empty} icon="evaluation" title=${t("evaluation.none")}>${t("evaluation.none.why")}</${Empty}>`}
      <${Sets} sets=${sets} changed=${loaded.reload} />
      <${Tuning} sets=${sets} running=${running} started=${loaded.reload} />`}</${Loaded}>
  </div>`;
}

/** A value with its interval. */
export const interval = ({ value, low, high }, digits = 3) => `${number(value, digits)} [${number(low, digits)}, ${number(high, digits)}]`;

function Runs({ runs }) {
  const [picked, setPicked] = useState([]);
  const pick = (id) => setPicked(picked.includes(id) ? picked.filter((one) => one !== id) : [...picked.slice(-1), id]);
  const [older, newer] = runs.filter((run) => picked.includes(run.id)).reverse();
  const fits = newer && older.set_id === newer.set_id;
  return html`<div class="bar"><p class="muted grow" role="status">${t(newer && !fits ? "evaluation.compare.sets" : "evaluation.compare.how")}</p>
      <button class="button" disabled=${!fits}
        onClick=${() => go(`/evaluation/${newer.id}?against=${older.id}`)}>${t("evaluation.compare")}</button></div>
    <div class="table" tabindex="0" role="region" aria-label=${t("evaluation.runs")}><table>
      <thead><tr><th><span class="hidden-text">${t("evaluation.pick")}</span></th><th>${t("traces.when")}</th><th>${t("evaluation.set")}</th>
        <th>${t("trace.settings")}</th><th>${t("evaluation.measure")}</th><th class="number">p50</th><th>${t("evaluation.state")}</th></tr></thead>
      <tbody>${runs.map((run) => html`<tr key=${run.id}>
        <td><input type="checkbox" disabled=${run.status !== "done"} checked=${picked.includes(run.id)}
          aria-label=${t("evaluation.pick.run", { when: moment(run.started_at) })} onChange=${() => pick(run.id)} /></td>
        <td class="nowrap"><a href=${`/evaluation/${run.id}`}>${moment(run.started_at)}</a></td>
        <td>${run.set_version ?? "–"}</td>
        <td class="value small">${Object.entries(run.settings).map(([key, value]) => html`<span key=${key} class="block">
          <span class="mono">${key}</span> ${formatValue(value)}</span>`)}</td>
        <td class="nowrap">${run.measures ? html`<span class="block small">${measureName(mainOf(run))}</span>${interval(run.measures[mainOf(run)])}` : "–"}</td>
        <td class="number nowrap">${run.p50_ms === null ? "–" : `${number(run.p50_ms, 1)} ms`}</td>
        <td>${run.status === "running" ? html`<${Progress} label=${t("evaluation.running")} value=${run.progress} />` : html`<${State}
          run=${run} />`}</td>
      </tr>`)}</tbody>
    </table></div>`;
}

export function State({ run }) {
  const loud = { done: "good", failed: "bad", interrupted: "warn", running: "accent" };
  return html`<span class=${`badge ${loud[run.status]}`}>${t(`evaluation.state.${run.status}`)}</span>
    ${run.error && html`<small class="block bad-text">${run.error}</small>`}`;
}

/** The results of the runs of the latest set, oldest first. */
function Course({ runs }) {
  const last = runs.find((run) => run.measures);
  const same = runs.filter((run) => run.measures && run.set_id === last?.set_id).slice(0, 20).reverse();
  if (same.length < 2) return null;
  const main = mainOf(last);
  const points = same.map((run, place) => ({ x: place, ...run.measures[main] }));
  return html`<div class="plots"><${Plot} title=${t("evaluation.course", { number: last.set_version })} about=${t("evaluation.interval")}
    series=${[{ name: measureName(main), points }]}
    x=${[-0.5, same.length - 0.5]} ticks=${same.map((_, place) => String(place + 1))} labels=${{ x: t("evaluation.run"), y: measureName(main) }} /></div>`;
}

function Sets({ sets, changed }) {
  const [ending, setEnding] = useState(null);
  const sure = () => remove(`/evaluation-sets/${ending.id}`).then(changed, toast);
  return html`<h2 class="spaced">${t("evaluation.sets")}</h2>
    <${Import} changed=${changed} />
    ${sets.length > 0 && html`<div class="table" tabindex="0" role="region" aria-label=${t("evaluation.sets")}><table>
      <thead><tr><th>${t("evaluation.set")}</th><th class="number">${t("evaluation.questions")}</th><th>${t("evaluation.tests")}</th><th>${t("evaluation.made")}</th>
        <th>${t("people.since")}</th><th><span class="hidden-text">${t("people.actions")}</span></th></tr></thead>
      <tbody>${sets.map((set) => html`<tr key=${set.id}>
        <th scope="row"><a href=${`/evaluation/sets/${set.id}`}>${t("evaluation.set.name", { number: set.version })}</a></th>
          <td class="number">${number(set.questions)}</td><td>${t(`evaluation.tests.${set.tests}`)}</td><td>${t(`evaluation.made.${set.made_by}`)}</td>
          <td class="nowrap">${day(set.created_at)}</td>
        <td><button class="icon-button small" aria-label=${t("evaluation.remove.of", { number: set.version })} onClick=${() => setEnding(set)}>
          <${Icon} name="trash" /></button></td>
      </tr>`)}</tbody>
    </table></div>`}
    ${ending && html`<${Confirm} title=${t("evaluation.remove.title", { number: ending.version })} label=${t("evaluation.remove")}
      close=${() => setEnding(null)} onConfirm=${sure}><p>${t("evaluation.remove.why")}</p></${Confirm}>`}`;
}

/** Import questions with expected answers from a file. */
function Import({ changed }) {
  const read = async (event) => {
    const input = event.target;
    try {
      const set = await post("/evaluation-sets", { questions: parseLines(await input.files[0].text()) });
      toast(t("evaluation.import.done", { number: set.version, count: set.questions }));
      changed();
    } catch (error) {
      toast(error);
    }
    input.value = "";
  };
  return html`<div class="bar"><p class="muted grow">${t("evaluation.import.about")}</p>
    <label class="button"><${Icon} name="upload" />${t("evaluation.import")}<input class="hidden-text" type="file" accept=".jsonl" data-import
      onChange=${read} /></label></div>`;
}
