// A menu button.
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../common/html.js";
import { Icon } from "./icon.js";

/** `items` are `{label, icon?, onClick, checked?, toggle?, danger?}`; null is a separator. */
export function Menu({ label, icon = "more", text, items, up = false, small = false, onOpen }) {
  const [open, setOpen] = useState(false);
  const [above, setAbove] = useState(up);
  const box = useRef();
  const id = useId();
  useLayoutEffect(() => {
    if (!open) return undefined;
    onOpen?.();
    const [button, list] = [box.current, box.current.querySelector(".menu-list")].map((one) => one.getBoundingClientRect());
    const floor = Math.min(innerHeight, box.current.closest(".thread")?.getBoundingClientRect().bottom ?? innerHeight);
    setAbove(up || (button.bottom + list.height > floor && button.top > list.height));
    (box.current.querySelector("[aria-checked=true]") ?? box.current.querySelector("[role^=menuitem]"))?.focus({ preventScroll: true });
    const outside = (event) => box.current.contains(event.target) || setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const shut = () => {
    setOpen(false);
    box.current.querySelector("button").focus();
  };
  const step = (event) => {
    if (!open) return;
    const all = [...box.current.querySelectorAll("[role^=menuitem]")];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") shut();
    if (event.key === "Tab") return;
    if (to !== undefined) all[(to + all.length) % all.length].focus();
    if (to !== undefined || event.key === "Escape") event.preventDefault();
  };
  return html`<div class=${`menu ${above ? "up" : ""}`} ref=${box} onKeyDown=${step}>
    <button class=${text ? "button quiet" : `icon-button ${small ? "small" : ""}`} aria-label=${text ? null : label} data-hint=${open || text ? null : label}
      aria-haspopup="menu" aria-expanded=${open} aria-controls=${open ? id : null} onClick=${() => setOpen(!open)}>
      <${Icon} name=${icon} />${text}
    </button>
    ${open && html`<div class="menu-list" role="menu" id=${id} aria-label=${label}>
      ${items.map((item, place) => item === null
        ? html`<hr key=${place} />`
        : html`<button key=${item.label} lang=${item.lang} tabindex="-1" class=${item.danger ? "danger" : ""}
            role=${item.checked === undefined ? "menuitem" : item.toggle ? "menuitemcheckbox" : "menuitemradio"}
            aria-checked=${item.checked} onClick=${() => (shut(), item.onClick())}>
            ${item.icon && html`<${Icon} name=${item.icon} />`}
            <span>${item.label}</span>
            ${item.checked && html`<${Icon} name="check" />`}
          </button>`)}
    </div>`}
  </div>`;
}
