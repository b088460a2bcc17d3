// A labelled progress bar; indeterminate without a value.
import { html } from "../common/html.js";
import { percent } from "../common/words.js";

export function Progress({ label, value = null }) {
  const known = value !== null;
  return html`<div class=${`progress ${known ? "" : "busy"}`} role="progressbar" aria-label=${label} aria-valuemin="0" aria-valuemax="100"
      aria-valuenow=${known ? Math.round(value * 100) : null} aria-valuetext=${known ? percent(value) : null}>
    <div style=${{ width: known ? `${value * 100}%` : null }}></div>
  </div>`;
}
