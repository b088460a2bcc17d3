// The part of a text around a passage, with buttons that show more of it.
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

/** `before` and `after` tell whether there is more text; `more` extends the excerpt; `box` is the ref of its element. */
export function Excerpt({ content, problem, before, after, more, box, children }) {
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  return html`<div class="source-body" ref=${box} aria-busy=${content === null}>
    ${before && html`<button class="button small" onClick=${more}>${t("source.earlier")}</button>`}
    ${children}
    ${after && html`<button class="button small" onClick=${more}>${t("source.later")}</button>`}
  </div>`;
}
