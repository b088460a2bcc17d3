// Activity: uploads, running jobs, rate, remaining time and failures.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Progress } from "../parts/progress.js";
import { toast } from "../parts/toast.js";
import { remove } from "../common/api.js";
import { html } from "../common/html.js";
import { told } from "../common/told.js";
import { duration, number, t } from "../common/words.js";
import { addressOf } from "./row.js";
import { stageWords } from "./stages.js";
import { again, forget, stop, underWay, uploads } from "./uploads.js";

const SHOWN_JOBS = 4;
const SHOWN_FAILURES = 50;
const NEVER = [413, 415, 422]; // the file itself is refused: another try gives the same

export function Activity({ queue }) {
  const { files } = uploads.use();
  const { jobs, summary } = queue;
  const busy = summary && summary.running + summary.waiting > 0;
  if (!files.length && !busy) return null;
  return html`<section class="activity card" aria-label=${t("activity.title")}>
    ${files.length > 0 && html`<${Sending} files=${files} />`}
    ${busy && html`<${Processing} jobs=${jobs} summary=${summary} />`}
  </section>`;
}

function Sending({ files }) {
  const count = (status) => files.filter((one) => one.status === status).length;
  const open = files.filter(underWay).length;
  const failed = files.filter((one) => one.status === "failed");
  const all = files.reduce((sum, one) => sum + one.bytes, 0) || 1;
  const out = files.reduce((sum, one) => sum + (underWay(one) ? one.share : 1) * one.bytes, 0);
  const told = [
    t("activity.sent", { count: count("taken"), of: files.length }),
    count("known") > 0 && t("activity.known", { count: count("known") }),
    count("stopped") > 0 && t("activity.stopped", { count: count("stopped") }),
    failed.length > 0 && t("activity.failed", { count: failed.length }),
  ].filter(Boolean);
  return html`<div class="activity-part">
    <div class="bar">
      <p class="grow" role="status"><${Icon} name=${open ? "upload" : failed.length ? "warning" : "check"} /> ${told.join(" · ")}</p>
      ${open ? html`<button class="button small" onClick=${stop}>${t("activity.stop")}</button>`
        : html`<button class="icon-button small" aria-label=${t("activity.forget")} onClick=${forget}><${Icon} name="close" /></button>`}
    </div>
    ${open > 0 && html`<${Progress} label=${t("activity.sending")} value=${out / all} />`}
    ${failed.length > 0 && html`<ul class="failures">${failed.slice(0, SHOWN_FAILURES).map((one) => html`<li key=${one.key}>
      <span>${!one.problem.words.includes(one.name) && html`<strong>${one.name}</strong> `}${one.problem.words}</span>
      ${!NEVER.includes(one.problem.status) && html`<button class="button small" onClick=${() => again(one.key)} aria-label=${t("activity.again.name", { name: one.name })}>${t("activity.again")}</button>`}
    </li>`)}</ul>`}
  </div>`;
}

function Processing({ jobs, summary }) {
  const [all, setAll] = useState(false);
  const running = [...jobs.values()].filter((job) => job.state === "running" || job.error);
  const shown = all ? running : running.slice(0, SHOWN_JOBS);
  const told = [
    t("activity.running", { count: summary.running }),
    summary.waiting > 0 && t("activity.waiting", { count: summary.waiting }),
    summary.documents_per_s && t("activity.rate", { rate: number(summary.documents_per_s * 60) }),
    summary.remaining_s && t("activity.left", { time: duration(summary.remaining_s) }),
  ].filter(Boolean);
  return html`<div class="activity-part">
    <p role="status"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> ${told.join(" · ")}</p>
    ${summary.stalled > 0 && html`<p class="notice warn"><${Icon} name="warning" />${t("activity.stalled", { count: summary.stalled })}</p>`}
    <ul class="jobs">${shown.map((job) => html`<${Job} key=${job.id} job=${job} />`)}</ul>
    ${running.length > SHOWN_JOBS && html`<button class="button quiet small" aria-expanded=${all} onClick=${() => setAll(!all)}>
      ${all ? t("activity.fewer") : t("activity.more", { count: running.length - SHOWN_JOBS })}</button>`}
  </div>`;
}

function Job({ job }) {
  const cancel = () => cancelJob(job);
  return html`<li>
    <a class="clip" href=${addressOf({ id: job.document_id })}>${job.name}</a>
    <span class="small muted clip">${stageWords(job.stage, job.state)}${job.error ? `: ${told(job.error.message)}` : ""}</span>
    <${Progress} label=${t("stage.progress", { name: job.name })} value=${job.progress} />
    <button class="icon-button small" aria-label=${t("activity.cancel", { name: job.name })} onClick=${cancel}><${Icon} name="close" /></button>
  </li>`;
}

/** Cancel the processing of a document; its earlier index stays in use. */
export async function cancelJob(job) {
  try {
    await remove(`/jobs/${job.id}`);
    toast(t("activity.cancelled", { name: job.name }));
  } catch (problem) {
    if (problem.status !== 404) toast(problem); // it has finished
  }
}
