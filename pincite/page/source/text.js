// A rendered document with the passage highlighted; of a long document only the part around the passage.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { rendered } from "../common/markdown.js";
import { unitsOf } from "../common/points.js";
import { t } from "../common/words.js";
import { useContent } from "./content.js";
import { Excerpt } from "./excerpt.js";

const CONTEXT_CHARS = 20_000;
const MAIL = "message/rfc822"; // its lines are lines: headers, greetings, signatures
const FRONT_MATTER = /^---\n[\s\S]*?\n(?:---|\.\.\.)\n/;

export function TextView({ place, mime }) {
  const { content, problem } = useContent(place);
  const [around, setAround] = useState(CONTEXT_CHARS);
  const [found, setFound] = useState(true);
  const box = useRef();
  const part = content === null ? null : partAround(content, place, around);
  useLayoutEffect(() => {
    if (!part) return;
    box.current.replaceChildren(rendered(part.text, { spans: [{ start: part.start, end: part.end, make: passage }], breaks: mime === MAIL }));
    const marks = box.current.querySelectorAll("mark");
    for (const mark of marks) mark.closest("tr")?.classList.add("marked");
    setFound(marks.length > 0);
    marks[0]?.scrollIntoView({ block: "center" });
  }, [content, place.key, around]);
  return html`<${Excerpt} content=${content} problem=${problem} before=${part?.before} after=${part?.after} more=${() => setAround(around * 4)}>
    ${!found && place.quote && html`<p class="notice"><${Icon} name="info" /><span>${t("source.unmarked")} <q>${place.quote}</q></span></p>`}
    <div class="prose document" ref=${box}></div>
  </${Excerpt}>`;
}

function passage() {
  const mark = document.createElement("mark");
  mark.className = "passage";
  return mark;
}

/** The paragraphs around a place, without front matter; offsets are code points of the part. */
function partAround(content, place, around) {
  const unit = unitsOf(content);
  const [start, end] = [unit(place.start), unit(place.end)];
  const head = FRONT_MATTER.exec(content)?.[0].length ?? 0;
  const from = start - around <= head ? (start < head && end > start ? 0 : head) : content.indexOf("\n\n", start - around) + 2 || head;
  const cut = content.lastIndexOf("\n\n", end + around);
  const to = end + around >= content.length || cut < end ? content.length : cut;
  const first = end > start ? Math.min(from, start) : from;
  const text = content.slice(first, to);
  const points = (unitOffset) => [...content.slice(first, unitOffset)].length;
  return { text, start: points(start), end: points(end), before: first > head, after: to < content.length };
}
