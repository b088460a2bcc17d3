// Buttons to zoom a page or picture.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { percent, t } from "../common/words.js";

const STEPS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const NARROW = "(max-width: 600px)";
const NARROW_ZOOM = 2; // as wide as the screen, the words of a page are too small there

/** `{value, set}`; 1 is the width of the pane. */
export function useZoom(quoted = false) {
  const [value, set] = useState(quoted && matchMedia(NARROW).matches ? NARROW_ZOOM : 1);
  return { value, set };
}

export function Zoom({ zoom: { value, set } }) {
  const [smaller, larger] = [STEPS.findLast((one) => one < value), STEPS.find((one) => one > value)];
  return html`<span class="zoom" role="group" aria-label=${t("source.zoom")}>
    <button class="icon-button" aria-label=${t("source.zoom.out")} data-hint=${t("source.zoom.out")} disabled=${!smaller} onClick=${() => set(smaller)}><${Icon} name="minus" /></button>
    <button class="button quiet small" aria-label=${t("source.zoom.fit")} data-hint=${t("source.zoom.fit")} onClick=${() => set(1)}>${percent(value)}</button>
    <button class="icon-button" aria-label=${t("source.zoom.in")} data-hint=${t("source.zoom.in")} disabled=${!larger} onClick=${() => set(larger)}><${Icon} name="plus" /></button>
  </span>`;
}
