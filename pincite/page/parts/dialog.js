// A dialog or side sheet: Escape and a click outside close it, and the focus is restored.
import { useEffect, useId, useRef } from "preact/hooks";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Icon } from "./icon.js";

export function Dialog({ title, close, sheet = false, footer, children }) {
  const element = useRef();
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog.showModal();
    return () => {
      const now = document.activeElement;
      if (!now || now === document.body || dialog.contains(now)) before?.focus?.(); // else it has moved on
    };
  }, []);
  const beside = (event) => event.target === element.current && close();
  return html`<dialog ref=${element} class=${sheet ? "beside" : ""} aria-labelledby=${id} onClick=${beside}
      onCancel=${(event) => (event.preventDefault(), close())}>
    <div class="dialog">
      <header>
        <h2 id=${id}>${title}</h2>
        <button class="icon-button" aria-label=${t("dialog.close")} onClick=${close}><${Icon} name="close" /></button>
      </header>
      <div class="dialog-body">${children}</div>
      ${footer && html`<footer>${footer}</footer>`}
    </div>
  </dialog>`;
}

/** Confirm an action that cannot be undone. */
export function Confirm({ title, label, close, onConfirm, children }) {
  const sure = async () => {
    await onConfirm();
    close();
  };
  return html`<${Dialog} title=${title} close=${close} footer=${html`
      <button class="button" onClick=${close}>${t("dialog.cancel")}</button>
      <button class="button danger" onClick=${sure}>${label}</button>`}>
    ${children}
  </${Dialog}>`;
}
