// Loaded content, a skeleton while loading, or an error with a retry button.
import { Problem } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Icon } from "./icon.js";

/** `from` is the result of `useLoad`; `children` draws its value. */
export function Loaded({ from, children }) {
  if (from.value !== null) return children(from.value);
  if (from.problem) return html`<${Trouble} problem=${from.problem} again=${from.reload} />`;
  return html`<div aria-busy="true"><div class="skeleton wide"></div><div class="skeleton"></div><div class="skeleton"></div></div>`;
}

/** An error notice. */
export function Trouble({ problem, again }) {
  return html`<div class="notice bad" role="alert">
    <${Icon} name="warning" />
    <span class="grow">${problem instanceof Problem ? problem.words : problem.message}</span>
    ${again && html`<button class="button small" onClick=${again}>${t("loaded.again")}</button>`}
  </div>`;
}
