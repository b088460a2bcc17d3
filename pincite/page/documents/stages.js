// The status of a document: waiting, processing, ready, failed or outdated.
import { Icon } from "../parts/icon.js";
import { Progress } from "../parts/progress.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const STAGES = ["parsing", "comparing", "embedding", "waiting for the embedder", "waiting for room on the disk"];

/** Translate a stage of the service, such as "parsing, page 3 of 12". */
export function stageWords(stage, state) {
  if (!stage) return t(state === "held" ? "stage.held" : "stage.waiting");
  const [name, where] = stage.split(", ");
  if (!STAGES.includes(name)) return stage;
  const counted = /^(\w+) ([\d,]+) of ([\d,]+)$/.exec(where ?? "");
  const words = t(`stage.${name.replaceAll(" ", "-")}`);
  return counted ? `${words}, ${t("stage.part", { what: t(`stage.of.${counted[1]}`), done: counted[2], of: counted[3] })}` : words;
}

/** `job` is the document's job in the queue, if any. */
export function Status({ document, job }) {
  if (job) return html`<span class="status-now">
    <span class="small">${stageWords(job.stage, job.state)}</span>
    <${Progress} label=${t("stage.progress", { name: document.name })} value=${job.state === "running" ? job.progress : 0} /></span>`;
  if (document.status === "error")
    return html`<span class="badge bad"><${Icon} name="warning" />${t("status.error")}</span>`;
  if (document.status !== "completed") return html`<span class="badge">${t("stage.waiting")}</span>`;
  if (document.stale) return html`<span class="badge warn">${t("status.stale")}</span>`;
  return html`<span class="badge good">${t("status.completed")}</span>`;
}
