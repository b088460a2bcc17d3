// A shared answer, with the sources that the user may read.
import { useEffect, useState } from "preact/hooks";
import { AnswerText } from "../ask/answer.js";
import { Conflicts, Notes, Trust } from "../ask/notes.js";
import { renumbered } from "../ask/numbers.js";
import { Peek } from "../ask/peek.js";
import { placeOfCitation, placeOfSource } from "../ask/places.js";
import { Sources } from "../ask/sources.js";
import { Empty } from "../parts/empty.js";
import { Split } from "../parts/split.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { moment, t } from "../common/words.js";
import { useKey } from "../shell/keys.js";
import { usePlace } from "../shell/router.js";
import { SourceView } from "../source/view.js";

export default function Share() {
  const { hash } = usePlace();
  const [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(null);
  const [place, setPlace] = useState(null);
  const [peek, setPeek] = useState(null);
  useEffect(() => {
    if (!hash) return setProblem({ status: 404 }); // the URL has no answer id
    setProblem(null);
    get(`/shares/${encodeURIComponent(hash)}`).then((found) => setAnswer(renumbered(found)), setProblem);
  }, [hash]);
  useKey("Escape", place ? () => setPlace(null) : null);
  if (problem) return html`<${Empty} heading="h1" icon="link" title=${t("share.gone")}>${problem.status === 404 ? t("share.gone.why") : problem.words}</${Empty}>`;
  if (!answer) return html`<div class="room narrow" aria-busy="true"><div class="skeleton wide"></div><div class="skeleton"></div></div>`;
  const readable = answer.sources.filter((one) => one.document_id);
  return html`<${Split} name="ask" side=${place && html`<${SourceView} place=${place} close=${() => setPlace(null)} />`}>
    <div class="thread"><article class="turn shared">
      <p class="muted">${t("share.by", { name: answer.shared_by, date: moment(answer.answered_at) })}</p>
      <header class="question"><h1>${answer.question}</h1></header>
      <${AnswerText} text=${answer.answer} answer=${{ ...answer, sources: readable }} open=${(number) => setPlace(placeOfCitation(answer, answer.citations[number]))} peek=${setPeek} chosen=${place?.key} />
      <${Trust} answer=${answer} />
      <${Notes} answer=${answer} />
      <${Conflicts} conflicts=${answer.context_sufficiency.conflicts} show=${setPlace} />
      <${Sources} sources=${readable} open=${(source) => setPlace(placeOfSource(source))} chosen=${place?.key} />
      ${peek && html`<${Peek} ...${peek} answer=${{ ...answer, sources: readable }} close=${() => setPeek(null)} />`}
    </article></div>
  </${Split}>`;
}
