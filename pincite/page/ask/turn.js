// One question and its answer, with notes, sources and actions.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Actions } from "./actions.js";
import { lastingOptions } from "./conversation.js";
import { AnswerText } from "./answer.js";
import { Conflicts, Notes, Trust } from "./notes.js";
import { Peek } from "./peek.js";
import { Sources } from "./sources.js";
import { Steps, Waiting } from "./waiting.js";
import { placeOfCitation, placeOfSource } from "./places.js";

export function Turn({ turn, last, shown, show, edit, put, again }) {
  const [peek, setPeek] = useState(null);
  const { answer, status, question, text, problem } = turn;
  const busy = status === "asking" || status === "waiting";
  const open = (number) => show(placeOfCitation(answer, answer.citations[number]));
  const openSource = (source) => show(placeOfSource(source));
  return html`<article class="turn" aria-busy=${busy}>
    <header class="question">
      <h2>${question}</h2>
      <button class="icon-button small" aria-label=${t("ask.edit")} data-hint=${t("ask.edit")} onClick=${() => edit(turn)}><${Icon} name="edit" /></button>
    </header>
    ${turn.options?.images?.length > 0 && html`<p class="muted small"><${Icon} name="picture" /> ${t("pictures.sent", { count: turn.options.images.length })}</p>`}
    <${Steps} steps=${turn.steps} plan=${turn.plan} />
    ${text && html`<${AnswerText} text=${text} answer=${answer} open=${open} peek=${setPeek} chosen=${shown?.key} />`}
    ${busy && html`<${Waiting} turn=${turn} />`}
    ${status === "stopped" && html`<p class="notice"><${Icon} name="stop" />${t("ask.stopped")}</p>`}
    ${status === "cut" && html`<p class="notice warn"><${Icon} name="warning" />${t("ask.cut")}</p>`}
    ${turn.removed && html`<p class="notice warn"><${Icon} name="warning" />${t("ask.removed")}</p>`}
    ${status === "failed" && html`<div class="notice bad" role="alert"><${Icon} name="warning" />
      <span>${problem.words}${problem.requestId && html` <small class="mono">${t("toast.request", { id: problem.requestId })}</small>`}</span></div>`}
    ${answer && html`
      ${!turn.removed && html`<${Trust} answer=${answer} />`}
      <${Notes} answer=${answer} />
      <${Conflicts} conflicts=${answer.context_sufficiency.conflicts} show=${show} />
      <${Sources} sources=${answer.sources} open=${openSource} chosen=${shown?.key} />`}
    ${!busy && html`<${Actions} turn=${turn} again=${(more) => again(turn, more)} />`}
    ${last && !busy && answer?.suggested_questions.length > 0 && html`<section class="suggested" aria-label=${t("ask.suggested")}>
      <h3>${t("ask.suggested")}</h3>
      <ul>${answer.suggested_questions.map((one) => html`<li key=${one}><button class="button small" onClick=${() => put(one, lastingOptions(turn.options))}>${one}</button></li>`)}</ul>
    </section>`}
    ${peek && html`<${Peek} ...${peek} answer=${answer} close=${() => setPeek(null)} />`}
  </article>`;
}
