// The document with its passages: brackets in the margin by level, and a label at the start of each.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Split } from "../parts/split.js";
import { pages } from "../common/api.js";
import { html } from "../common/html.js";
import { headings } from "../common/quotes.js";
import { t } from "../common/words.js";
import { contentOf } from "../source/content.js";
import { useKey } from "../shell/keys.js";
import { pieces } from "./drawing.js";
import { Finder } from "./finder.js";
import { Passage } from "./passage.js";

export function Passages({ document, query }) {
  const { content, chunks, problem } = useContent(document);
  const [chosen, setChosen] = useState(query.get("passage") === null ? null : Number(query.get("passage")));
  const [found, setFound] = useState(null);
  const drawn = useMemo(() => (content === null ? [] : pieces(content, chunks)), [content, chunks]);
  const box = useRef();
  const one = chunks.find((chunk) => chunk.ordinal === chosen) ?? null;
  const ranks = useMemo(() => new Map((found?.results ?? []).map((hit, place) => [hit.id, place + 1])), [found]);
  useKey("Escape", one ? () => setChosen(null) : null);
  const show = (ordinal) => {
    setChosen(ordinal);
    requestAnimationFrame(() => {
      const label = box.current?.querySelector(`[data-passage="${ordinal}"]`);
      if (label) box.current.scrollTop += label.closest(".piece").getBoundingClientRect().top - box.current.getBoundingClientRect().top;
    });
  };
  useEffect(() => {
    if (content !== null && chosen !== null) show(chosen);
  }, [content]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  if (content === null) return html`<div aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div><div class="skeleton"></div></div>`;
  if (!chunks.length) return html`<${Empty} icon="clock" title=${t("passages.none")}>${t("passages.none.why")}</${Empty}>`;
  const passages = chunks.filter((chunk) => chunk.level === 2);
  const side = one && html`<${Passage} chunk=${one} found=${found} close=${() => setChosen(null)} />`;
  return html`
    <${Finder} document=${document} chunks=${passages} found=${found} setFound=${setFound} show=${show} />
    <${Legend} chunks=${chunks} />
    <${Split} name="passages" side=${side}>
      <div class="drawing" ref=${box} tabindex="0" role="region" aria-label=${t("passages.title")}>
        ${drawn.map((piece) => html`<${Piece} key=${piece.key} piece=${piece} chosen=${chosen} ranks=${ranks} choose=${setChosen} />`)}
      </div>
    </${Split}>`;
}

/** Load the text and all passages of the version in use. */
function useContent(document) {
  const [state, setState] = useState({ content: null, chunks: [], problem: null });
  useEffect(() => {
    let left = false;
    (async () => {
      const chunks = [];
      for await (const page of pages(`/documents/${document.id}/chunks`, { limit: 10000, embedded: true })) chunks.push(...page);
      const version = chunks[0]?.id.split(".")[1];
      const content = version ? await contentOf(document.id, version) : "";
      if (!left) setState({ content, chunks, problem: null });
    })().catch((problem) => left || setState({ content: null, chunks: [], problem }));
    return () => (left = true);
  }, [document.id]);
  return state;
}

function Legend({ chunks }) {
  const count = (level) => chunks.filter((chunk) => chunk.level === level).length;
  return html`<p class="levels small muted">
    ${[0, 1, 2].map((level) => html`<span key=${level}><i class=${`bar-${level}`} aria-hidden="true"></i>${t(`passages.level.${level}`, { count: count(level) })}</span>`)}
  </p>`;
}

function Piece({ piece, chosen, ranks, choose }) {
  const { section, passages, opens, begins } = piece;
  const lit = passages.some((one) => one.ordinal === chosen);
  const hit = passages.some((one) => ranks.has(one.id));
  const lanes = [0, 1].map((lane) => passages.find((one) => one.ordinal % 2 === lane));
  return html`<div class=${`piece ${lit ? "lit" : ""} ${hit ? "hit" : ""}`}>
    <div class="brackets" aria-hidden="true">
      <i class="bar-0"></i>
      <i class=${section ? `bar-1 ${begins ? "first" : ""}` : ""}></i>
      ${lanes.map((one, lane) => html`<i key=${lane} class=${one ? `bar-2 ${opens.includes(one) ? "first" : ""} ${one.ordinal === chosen ? "chosen" : ""}` : ""}></i>`)}
    </div>
    <div class="piece-text">
      ${begins && headings(begins).length > 0 && html`<p class="section-label">${headings(begins).join(" › ")}</p>`}
      ${opens.map((one) => html`<${Label} key=${one.ordinal} chunk=${one} rank=${ranks.get(one.id)} chosen=${one.ordinal === chosen} choose=${choose} />`)}
      <div class="raw" onClick=${() => passages.length && choose(passages.at(-1).ordinal)}>${piece.text}</div>
    </div>
  </div>`;
}

/** The label of a passage: number, type and length. */
function Label({ chunk, rank, chosen, choose }) {
  return html`<p class="passage-label" data-passage=${chunk.ordinal}>
    <button class="badge accent" aria-pressed=${chosen} onClick=${() => choose(chunk.ordinal)}>
      ${rank && html`<strong class="rank">${t("passages.rank", { rank })}</strong>`}${t("passages.number", { number: chunk.ordinal })}</button>
    ${chunk.content_type !== "prose" && html`<span class="badge">${t(`passages.type.${chunk.content_type}`)}</span>`}
    ${chunk.chunk_variant === "augmented" && html`<span class="badge good">${t("passages.augmented")}</span>`}
    ${chunk.warnings && html`<span class="badge warn"><${Icon} name="warning" />${t("passages.warned")}</span>`}
    <span class="small muted">${t("passages.tokens", { count: chunk.tokens })}</span>
  </p>`;
}
