// The text of an answer: Markdown with numbered citations; unsupported sentences are highlighted.
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../common/html.js";
import { rendered } from "../common/markdown.js";
import { t } from "../common/words.js";
import { numberMarks } from "./numbers.js";

export const SUPPORTED = 0.5;
const HALF_A_MARK = /\s*\[(?:S(?:o(?:u(?:r(?:c(?:e(?: \d{0,3})?)?)?)?)?)?|\d{1,3})?$/;

/** The sentences of an answer that no source supports; empty if there are no sources. */
export function unsupported(answer) {
  if (!answer?.sources.length) return [];
  return answer.groundedness.sentences.filter((sentence) => sentence.support < SUPPORTED);
}

export function AnswerText({ text, answer, open, peek, chosen }) {
  const box = useRef();
  useLayoutEffect(() => {
    box.current.replaceChildren(answer ? whole(answer) : unfinished(text));
  }, [text, answer]);
  useLayoutEffect(() => {
    for (const mark of box.current.querySelectorAll(".cite[data-citation]")) {
      const citation = answer?.citations[mark.dataset.citation];
      const source = answer?.sources.find((one) => one.number === citation.source);
      mark.setAttribute("aria-expanded", String(Boolean(chosen && source && chosen === `${source.chunk_id}:${citation.quote_start_char}`)));
    }
  }, [chosen, text, answer]);
  const at = (event) => event.target.closest?.(".cite[data-citation]");
  const hover = (event) => {
    const mark = at(event);
    if (mark) peek({ mark, citation: Number(mark.dataset.citation) });
  };
  const click = (event) => {
    const mark = at(event);
    if (!mark) return;
    peek(null);
    open(Number(mark.dataset.citation));
  };
  return html`<div class="answer prose" ref=${box} onMouseOver=${hover} onFocusIn=${hover} onClick=${click}></div>`;
}

function unfinished(text) {
  const fragment = rendered(text.replace(HALF_A_MARK, ""), { cites: true });
  numberMarks(fragment.querySelectorAll(".cite"));
  return fragment;
}

/** The whole answer as a fragment; `makeMark` draws a citation. */
export function whole(answer, makeMark = mark) {
  const citations = answer.citations.map((citation, number) => ({
    start: citation.start, end: citation.end, replace: true, make: () => makeMark(answer, citation, number),
  }));
  const sentences = unsupported(answer).map(({ start, end }) => ({ start, end, make: doubtful }));
  return rendered(answer.answer, { spans: [...citations, ...sentences] });
}

function mark(answer, citation, number) {
  const source = answer.sources.find((one) => one.number === citation.source);
  const element = document.createElement(source ? "button" : "span");
  element.className = citation.support < SUPPORTED || !source ? "cite weak" : "cite";
  element.textContent = citation.source ?? "?";
  if (!source) {
    element.title = t("ask.cite.none", { text: citation.text });
    return element;
  }
  element.type = "button";
  element.dataset.citation = number;
  element.setAttribute("aria-label", t("ask.cite", { number: citation.source, title: source.title || source.document_name }));
  return element;
}

function doubtful() {
  const element = document.createElement("span");
  element.className = "unsupported";
  return element;
}
