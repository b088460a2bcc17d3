// The progress of an answer: phase and agent steps.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const SLOW_MS = 8000;

export function Waiting({ turn }) {
  const phase = turn.status === "waiting" ? "waiting" : turn.text ? "writing" : turn.sources ? "reading" : turn.again ? "again" : "searching";
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    const timer = setTimeout(() => setLong(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [phase, turn.text]);
  return html`<p class=${`waiting ${phase}`} role="status">
    <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
    ${t(`ask.phase.${phase}`, { count: turn.sources?.length ?? 0 })} ${long && phase !== "waiting" && t("ask.long")}
  </p>`;
}

/** The steps of the agent, one line each. */
export function Steps({ steps, plan }) {
  const told = plan && plan.question && plan.searches?.length > 1;
  if (!steps.length && !told) return null;
  return html`<details class="steps" open=${steps.length > 0}>
    <summary>${steps.length ? t("ask.steps", { count: steps.length }) : t("ask.searches", { count: plan.searches.length })}</summary>
    <ol>
      ${steps.map((step, place) => html`<li key=${place} class=${step.failed ? "failed" : ""}><${Icon} name=${step.failed ? "warning" : "search"} /><span>${step.thought && html`<em>${step.thought}</em> `}<code>${step.tool}</code> ${words(step.arguments)} <span class="muted">${step.result ?? ""}</span></span></li>`)}
      ${!steps.length && plan.searches.map((one, place) => html`<li key=${place}><${Icon} name="search" /><span>${one.text} <span class="muted">${one.engine}</span></span></li>`)}
    </ol>
  </details>`;
}

const words = (value) => (value === undefined || value === null ? "" : typeof value === "string" ? value : Object.values(value).flat().join(", "));
