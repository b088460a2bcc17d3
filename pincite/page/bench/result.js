// One result: passage, score, and the relevance mark.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { headings } from "../common/quotes.js";
import { number, percent, t } from "../common/words.js";
import { ScorePath, shares } from "./score.js";

export function Result({ hit, rank, most, change, marks, hot, setHot }) {
  const [whole, setWhole] = useState(false);
  const { metadata } = hit;
  const marked = marks.has(hit.id);
  const place = [...headings(metadata), metadata.place ?? (metadata.page && t("bench.page", { page: metadata.page }))].filter(Boolean).join(" › ");
  return html`<li class=${`result ${hot ? "hot" : ""} ${marked ? "marked" : ""}`} onMouseEnter=${() => setHot(hit.id)}
    onMouseLeave=${() => setHot(null)} onFocusIn=${() => setHot(hit.id)}>
    <header>
      <span class="rank">${rank}</span>
      <span class="grow"><a href=${`/documents/${encodeURIComponent(metadata.document_id)}`}>${metadata.title || metadata.document_name}</a>
        <small class="muted block">${place}</small></span>
      ${change && html`<${Moved} change=${change} />`}
      ${marks.may && html`<button class="icon-button small" aria-pressed=${marked} aria-label=${t(marked ? "bench.unmark" : "bench.mark", { rank })}
        data-hint=${t(marked ? "bench.marked" : "bench.relevant")}
        onClick=${() => marks.toggle(hit.id)}><${Icon} name="check" /></button>`}
    </header>
    <p class=${`snippet small ${whole ? "" : "clamped"}`}>${hit.text}</p>
    ${hit.text.length > 240 && html`<button class="button quiet small" aria-expanded=${whole}
      onClick=${() => setWhole(!whole)}>${t(whole ? "bench.less" : "bench.more")}</button>`}
    <details class="score">
      <summary><span class="score-bar" role="img" aria-label=${t("bench.score.bar", { score: number(hit.score, 4) })}>
          ${shares(hit.explain).map(({ engine, share }, place_) => html`<span key=${place_} class=${`share ${engine}`}
            style=${{ width: `${Math.max(0, share / most) * 100}%` }}></span>`)}
        </span><span class="score-value">${number(hit.score, 4)}</span>
          <span class="muted small">${t("bench.relevance", { relevance: percent(hit.relevance) })}</span></summary>
      <${ScorePath} explain=${hit.explain} />
    </details>
  </li>`;
}

/** The rank change against the first configuration. */
function Moved({ change: { rank, moved } }) {
  if (rank === null) return html`<span class="badge good">${t("bench.new")}</span>`;
  if (moved === 0) return html`<span class="badge">=</span>`;
  const text = moved > 0 ? t("bench.up", { count: moved }) : t("bench.down", { count: -moved });
  return html`<span class=${`badge ${moved > 0 ? "accent" : "warn"}`}><span aria-hidden="true">${moved > 0 ? "▲" : "▼"} ${Math.abs(moved)}</span>
    <span class="hidden-text">${text}</span></span>`;
}
