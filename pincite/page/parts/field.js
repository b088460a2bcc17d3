// A labelled field with a hint or an error.
import { useId } from "preact/hooks";
import { html } from "../common/html.js";

/** `as` is input, textarea or select; other props are passed on. */
export function Field({ label, hint, error, as = "input", children, ...rest }) {
  const id = useId();
  const below = error || hint;
  return html`<div class=${`field ${error ? "wrong" : ""}`}>
    <label for=${id}>${label}</label>
    <${as} id=${id} aria-describedby=${below ? `${id}-below` : null} aria-invalid=${error ? "true" : null} ...${rest}>${children}</${as}>
    ${below && html`<p id=${`${id}-below`}>${below}</p>`}
  </div>`;
}
