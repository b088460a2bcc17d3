// A document's plain text with its line numbers, the passage marked; only the lines in sight are drawn.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { unitsOf } from "../common/points.js";
import { t } from "../common/words.js";
import { contentOf } from "./content.js";

const AROUND = 300;

export function LinesView({ place }) {
  const [content, setContent] = useState(null);
  const [problem, setProblem] = useState(null);
  const [around, setAround] = useState(AROUND);
  const box = useRef();
  useEffect(() => {
    let left = false;
    contentOf(place.documentId, place.version).then((text) => left || setContent(text), (error) => left || setProblem(error));
    return () => (left = true);
  }, [place.documentId, place.version]);
  const { lines, first, last, all } = useMemo(() => cut(content ?? "", place, around), [content, place.key, around]);
  useEffect(() => box.current?.querySelector("mark")?.scrollIntoView({ block: "center" }), [content, place.key]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  return html`<div class="source-body" ref=${box} aria-busy=${content === null}>
    ${first > 0 && html`<button class="button small" onClick=${() => setAround(around * 4)}>${t("source.earlier")}</button>`}
    <ol class="lines" start=${first + 1}>
      ${lines.map(({ before, marked, after, number }) => html`<li key=${number} value=${number}>${before}${marked && html`<mark class="passage">${marked}</mark>`}${after}</li>`)}
    </ol>
    ${last < all && html`<button class="button small" onClick=${() => setAround(around * 4)}>${t("source.later")}</button>`}
  </div>`;
}

/** The lines around a place, each in three pieces: before the passage, in it, after it. */
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
