// Toast notices, announced by screen readers: `toast("Copied")`, `toast(problem)`.
import { Problem } from "../common/api.js";
import { html } from "../common/html.js";
import { state } from "../common/state.js";
import { t } from "../common/words.js";
import { Icon } from "./icon.js";

const SHOWN_MS = 6000;
const shown = state([]);
let last = 0;

const drop = (id) => shown.set((list) => list.filter((one) => one.id !== id));

/** Show a notice; a problem stays until it is closed. */
export function toast(what, { kind = "good", action } = {}) {
  const failed = what instanceof Error;
  const id = (last += 1);
  const text = what instanceof Problem ? what.words : failed ? what.message : what;
  shown.set((list) => [...list.slice(-3), { id, text, kind: failed ? "bad" : kind, action, requestId: what.requestId }]);
  if (!failed && !action) setTimeout(() => drop(id), SHOWN_MS);
}

export function Toasts() {
  const list = shown.use();
  return html`<div class="toasts" role="status" aria-live="polite">
    ${list.map(({ id, text, kind, action, requestId }) => html`
      <div key=${id} class=${`toast ${kind}`}>
        <${Icon} name=${kind === "bad" ? "warning" : "check"} />
        <p>${text}${requestId && html`<small>${t("toast.request", { id: requestId })}</small>`}</p>
        ${action && html`<button class="button small" onClick=${() => (drop(id), action.onClick())}>${action.label}</button>`}
        <button class="icon-button" aria-label=${t("dialog.close")} onClick=${() => drop(id)}><${Icon} name="close" /></button>
      </div>`)}
  </div>`;
}
