// The spans of a request as bars on a time line.
import { useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { number, t } from "../common/words.js";
import { Span } from "./span.js";

export function Waterfall({ spans, total }) {
  const [chosen, setChosen] = useState(null);
  const list = useRef();
  if (!spans.length) return html`<p class="muted">${t("trace.steps.none")}</p>`;
  const depths = depthsOf(spans);
  const end = Math.max(total, ...spans.map((span) => span.started_ms + span.duration_ms), 0.001);
  const step = (event) => {
    const all = [...list.current.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined || !all[to]) return;
    event.preventDefault();
    all[to].focus();
  };
  const span = spans.find((one) => one.id === chosen);
  return html`<div class=${`waterfall ${span ? "two" : ""}`}>
    <div>
      <div class="scale" aria-hidden="true"><span>0</span><span>${number(end / 2, 1)} ms</span><span>${number(end, 1)} ms</span></div>
      <ol ref=${list} onKeyDown=${step} aria-label=${t("trace.steps")}>
        ${spans.map((one) => html`<li key=${one.id}><button class=${`span ${one.error ? "bad" : ""}`} aria-expanded=${one.id === chosen}
            aria-label=${spoken(one)}
            onClick=${() => setChosen(one.id === chosen ? null : one.id)}>
          <span class="span-name clip" style=${{ "--depth": depths.get(one.id) }}>${one.error && html`<${Icon} name="warning" />`}${one.name}</span>
          <span class="span-line"><span class="span-bar"
            style=${{ left: `${(one.started_ms / end) * 100}%`, width: `${(one.duration_ms / end) * 100}%` }}></span></span>
          <span class="span-time">${number(one.duration_ms, one.duration_ms < 10 ? 2 : 0)}</span>
        </button></li>`)}
      </ol>
    </div>
    ${span && html`<${Span} key=${span.id} span=${span} close=${() => setChosen(null)} />`}
  </div>`;
}

/** The text description of a span. */
function spoken(span) {
  const told = t("trace.span", { name: span.name, ms: number(span.duration_ms, 2), start: number(span.started_ms, 2) });
  return span.error ? `${told}, ${t("traces.failed")}` : told;
}

/** The depth of each span in the tree. */
export function depthsOf(spans) {
  const depths = new Map();
  for (const span of spans) depths.set(span.id, span.parent_id === null ? 0 : (depths.get(span.parent_id) ?? 0) + 1);
  return depths;
}
