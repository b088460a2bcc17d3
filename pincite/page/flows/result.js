// The answer of a flow, with its steps and sources.
import { useMemo, useState } from "preact/hooks";
import { AnswerText } from "../ask/answer.js";
import { Conflicts, Notes, Trust } from "../ask/notes.js";
import { renumbered } from "../ask/numbers.js";
import { Peek } from "../ask/peek.js";
import { placeOfCitation, placeOfSource } from "../ask/places.js";
import { Sources } from "../ask/sources.js";
import { Steps } from "../ask/waiting.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

export function Result({ answer: given, place, show }) {
  const answer = useMemo(() => renumbered(given), [given]);
  const [peek, setPeek] = useState(null);
  return html`<article class="turn">
    <h2>${t("flows.answer")}</h2>
    <${Steps} steps=${answer.metadata.steps ?? []} />
    <${AnswerText} text=${answer.answer} answer=${answer} open=${(number) => show(placeOfCitation(answer, answer.citations[number]))} peek=${setPeek} chosen=${place?.key} />
    <${Trust} answer=${answer} />
    <${Notes} answer=${answer} />
    <${Conflicts} conflicts=${answer.context_sufficiency.conflicts} show=${show} />
    <${Sources} sources=${answer.sources} open=${(source) => show(placeOfSource(source))} chosen=${place?.key} />
    ${peek && html`<${Peek} ...${peek} answer=${answer} close=${() => setPeek(null)} />`}
  </article>`;
}
