// Two panes with a separator that can be dragged, or moved with the arrow keys.
import { useRef, useState } from "preact/hooks";
import { html } from "../common/html.js";
import { kept } from "../common/kept.js";
import { t } from "../common/words.js";

const [MIN_PERCENT, MAX_PERCENT] = [25, 75];

/** `side` is the second pane or null; its width is stored under `name`. */
export function Split({ name, side, children }) {
  const box = useRef();
  const [share, setShare] = useState(() => kept.get(`split.${name}`, 50));
  const set = (value) => {
    const held = Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, value));
    setShare(held);
    kept.set(`split.${name}`, held);
  };
  const drag = (event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.onpointermove = (move) => {
      const { left, width } = box.current.getBoundingClientRect();
      set(((move.clientX - left) / width) * 100);
    };
  };
  const drop = (event) => (event.currentTarget.onpointermove = null);
  const step = (event) => {
    const by = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (by) set(share + by);
  };
  return html`<div class=${`split ${side ? "two" : ""}`} ref=${box} style=${{ "--share": `${share}%` }}>
    <div class="split-main">${children}</div>
    ${side && html`
      <div class="split-line" role="separator" tabindex="0" aria-orientation="vertical" aria-label=${t("split.line")}
        aria-valuenow=${Math.round(share)} aria-valuemin=${MIN_PERCENT} aria-valuemax=${MAX_PERCENT}
        onPointerDown=${drag} onPointerUp=${drop} onKeyDown=${step}></div>
      <div class="split-side">${side}</div>`}
  </div>`;
}
