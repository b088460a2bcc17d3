// A document as it reads: rendered, with the passage marked where it stands; of a long one only what is around it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { rendered } from "../common/markdown.js";
import { unitsOf } from "../common/points.js";
import { t } from "../common/words.js";
import { contentOf } from "./content.js";

const AROUND = 20_000;
const FRONT_MATTER = /^---\n[\s\S]*?\n(?:---|\.\.\.)\n/;

export function TextView({ place }) {
  const [content, setContent] = useState(null);
  const [problem, setProblem] = useState(null);
  const [around, setAround] = useState(AROUND);
  const [found, setFound] = useState(true);
  const box = useRef();
  useEffect(() => {
    let left = false;
    contentOf(place.documentId, place.version).then((text) => left || setContent(text), (error) => left || setProblem(error));
    return () => (left = true);
  }, [place.documentId, place.version]);
  const part = content === null ? null : partAround(content, place, around);
  useLayoutEffect(() => {
    if (!part) return;
    box.current.replaceChildren(rendered(part.text, { spans: [{ start: part.start, end: part.end, make: passage }] }));
    const marks = box.current.querySelectorAll("mark");
    for (const mark of marks) mark.closest("tr")?.classList.add("marked");
    setFound(marks.length > 0);
    marks[0]?.scrollIntoView({ block: "center" });
  }, [content, place.key, around]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  return html`<div class="source-body" aria-busy=${content === null}>
    ${part?.before && html`<button class="button small" onClick=${() => setAround(around * 4)}>${t("source.earlier")}</button>`}
    ${!found && place.quote && html`<p class="notice"><${Icon} name="info" /><span>${t("source.unmarked")} <q>${place.quote}</q></span></p>`}
    <div class="prose document" ref=${box}></div>
    ${part?.after && html`<button class="button small" onClick=${() => setAround(around * 4)}>${t("source.later")}</button>`}
  </div>`;
}

function passage() {
  const mark = document.createElement("mark");
  mark.className = "passage";
  return mark;
}

/** The lines around a place, whole paragraphs of them, without what stands about the file at its head; offsets in its own code points. */
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
