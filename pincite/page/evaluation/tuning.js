// Tuning: settings tried on a question set, and the proposed change.
import { useEffect, useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Progress } from "../parts/progress.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { moment, number, t } from "../common/words.js";
import { measureName } from "./answers.js";

const FOLLOW_MS = 1000;
const BADGE_KINDS = { better: "good", worse: "bad", "within noise": "" };

const signed = (value) => `${value > 0 ? "+" : ""}${number(100 * value, 1)}`;
const points = ({ value, low, high }) => `${signed(value)} [${signed(low)}, ${signed(high)}]`;

/** The newest tuning, and the form that starts one. */
export function Tuning({ sets, running, started }) {
  const loaded = useLoad(() => get("/tunings", { limit: 1 }));
  const last = loaded.value?.items[0];
  useEffect(() => {
    if (last?.status !== "running") return undefined;
    const timer = setTimeout(loaded.reload, FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [loaded.value]);
  const begin = async (event) => {
    event.preventDefault();
    const set = new FormData(event.target).get("tuned");
    try {
      await post("/tunings", set ? { set_id: set } : {});
      loaded.reload();
      started();
    } catch (error) {
      toast(error);
    }
  };
  const busy = running || last?.status === "running";
  return html`<h2 class="spaced">${t("tuning")}</h2>
    <form class="bar" onSubmit=${begin}><p class="muted grow">${t("tuning.about")}</p>
      <label class="hidden-text" for="tuned">${t("tuning.set")}</label>
      <select id="tuned" name="tuned"><option value="">${t("tuning.set.newest")}</option>${sets.filter((set) => set.questions > 0).map((set) => html`
        <option key=${set.id} value=${set.id}>${t("evaluation.set.name", { number: set.version })}, ${t(`evaluation.tests.${set.tests}`)}</option>`)}</select>
      <button class="button" disabled=${busy}>${t("tuning.start")}</button></form>
    ${last?.status === "running" && html`<${Progress} label=${t("evaluation.running")} value=${last.progress} />`}
    ${last?.error && html`<p class="notice bad"><${Icon} name="warning" />${last.error}</p>`}
    ${last?.status === "interrupted" && html`<p class="notice warn"><${Icon} name="warning" />${t("evaluation.state.interrupted")}</p>`}
    ${last?.result && html`<${Result} tuning=${last} />`}`;
}

function Result({ tuning }) {
  const { result } = tuning;
  const { proposal } = result;
  const tried = [...result.tried].sort((one, two) => two.difference.value - one.difference.value);
  return html`<p class="muted spaced">${t("tuning.result", { when: moment(tuning.started_at), number: result.set_version, measure: measureName(result.measure),
      value: number(100 * result.current.value, 1), first: result.questions.chosen_on, second: result.questions.confirmed_on })}</p>
    ${result.notes.map((note) => html`<p key=${note} class="notice"><${Icon} name="info" />${note}</p>`)}
    ${proposal ? html`<${Proposal} tuning=${tuning} proposal=${proposal} measure=${measureName(result.measure)} />`
      : html`<p class="notice"><${Icon} name="info" />${t("tuning.none")}</p>`}
    <details class="spaced"><summary>${t("tuning.tried", { count: tried.length })}</summary>
      <div class="table" tabindex="0" role="region" aria-label=${t("tuning")}><table>
        <thead><tr><th>${t("tuning.change")}</th><th>${t("evaluation.difference")}</th><th class="number">p50</th><th>${t("evaluation.verdict")}</th></tr></thead>
        <tbody>${tried.map((one) => html`<tr key=${one.name}><th scope="row" class="mono">${one.name}</th><td class="nowrap">${points(one.difference)}</td>
          <td class="number nowrap">${number(one.p50_ms)} ms</td><td><span class=${`badge ${BADGE_KINDS[one.difference.verdict]}`}>
            ${t(`evaluation.verdict.${one.difference.verdict.replace(" ", "-")}`)}</span></td></tr>`)}</tbody>
      </table></div></details>`;
}

function Proposal({ tuning, proposal, measure }) {
  const [asking, setAsking] = useState(false);
  const apply = () => post(`/tunings/${tuning.id}/apply`, {}).then(() => toast(t("tuning.applied")), toast);
  return html`<div class="card"><h3>${t("tuning.proposal")}</h3>
    <dl class="facts">
      ${Object.entries(proposal.after).map(([key, value]) => html`<div key=${key}><dt class="mono">${key}</dt>
        <dd>${formatValue(proposal.before[key])} → <strong>${formatValue(value)}</strong></dd></div>`)}
      <div><dt>${t("tuning.first", { measure })}</dt><dd>${points(proposal.chosen)}</dd></div>
      <div><dt>${t("tuning.second", { measure })}</dt><dd>${points(proposal.confirmed)}</dd></div>
      <div><dt>${t("tuning.time")}</dt><dd>${number(proposal.p50_ms.before)} → ${number(proposal.p50_ms.after)} ms</dd></div>
    </dl>
    <button class="button primary" onClick=${() => setAsking(true)}>${t("tuning.apply")}</button>
    ${asking && html`<${Confirm} title=${t("tuning.apply.title")} label=${t("tuning.apply")} close=${() => setAsking(false)} onConfirm=${apply}>
      <p>${t("tuning.apply.why")}</p></${Confirm}>`}</div>`;
}
