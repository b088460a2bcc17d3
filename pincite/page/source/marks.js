// Highlighted boxes over a page or picture, positioned in percent of its size.
import { html } from "../common/html.js";

const share = (value, of) => `${(value / of) * 100}%`;

/** `rects` are `[left, top, right, bottom]`; `kind` is the class of the boxes. */
export function Marked({ rects, width, height, kind = "rect" }) {
  if (!width || !height) return null;
  return rects.map(([x, y, right, bottom], place) => html`<div key=${place} class=${kind} style=${{
    left: share(x, width), top: share(y, height), width: share(right - x, width), height: share(bottom - y, height),
  }}></div>`);
}
