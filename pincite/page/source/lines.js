// The plain text of a document with line numbers and the passage highlighted; only the lines around it are drawn.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../common/html.js";
import { unitsOf } from "../common/points.js";
import { useContent } from "./content.js";
import { Excerpt } from "./excerpt.js";

const CONTEXT_LINES = 300;

export function LinesView({ place }) {
  const { content, problem } = useContent(place);
  const [around, setAround] = useState(CONTEXT_LINES);
  const box = useRef();
  const { lines, first, last, all } = useMemo(() => cut(content ?? "", place, around), [content, place.key, around]);
  useEffect(() => box.current?.querySelector("mark")?.scrollIntoView({ block: "center" }), [content, place.key]);
  return html`<${Excerpt} content=${content} problem=${problem} box=${box} before=${first > 0} after=${last < all} more=${() => setAround(around * 4)}>
    <ol class="lines" start=${first + 1}>
      ${lines.map(({ before, marked, after, number }) => html`<li key=${number} value=${number}>${before}${marked && html`<mark class="passage">${marked}</mark>`}${after}</li>`)}
    </ol>
  </${Excerpt}>`;
}

/** The lines around a place, each split into the text before, inside and after the passage. */
function cut(content, place, around) {
  const unit = unitsOf(content);
  const [start, end] = [unit(place.start), unit(place.end)];
  const all = content.replace(/\n$/, "").split("\n");
  let at = 0;
  const lines = all.map((text, index) => {
    const [from, to] = [Math.max(0, Math.min(text.length, start - at)), Math.max(0, Math.min(text.length, end - at))];
    at += text.length + 1;
    return { number: index + 1, before: text.slice(0, from), marked: text.slice(from, to), after: text.slice(to) };
  });
  const middle = Math.max(0, lines.findIndex((line) => line.marked));
  const [first, last] = [Math.max(0, middle - around), Math.min(lines.length, middle + around)];
  return { lines: lines.slice(first, last), first, last, all: lines.length };
}
