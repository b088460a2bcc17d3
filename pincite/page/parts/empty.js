// An empty state: title, reason and action.
import { html } from "../common/html.js";
import { Icon } from "./icon.js";

/** `heading` is h1 if it is the only content of a view. */
export function Empty({ icon, title, action, heading = "h2", children }) {
  const button = action && (action.href
    ? html`<a class="button primary" href=${action.href}>${action.label}</a>`
    : html`<button class="button primary" onClick=${action.onClick}>${action.label}</button>`);
  return html`<section class="empty">
    <${Icon} name=${icon} />
    <${heading}>${title}</${heading}>
    <p>${children}</p>
    ${button}
  </section>`;
}
