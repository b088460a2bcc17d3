// Tabs with arrow key navigation; only the selected panel is drawn.
import { useEffect, useId, useRef } from "preact/hooks";
import { html } from "../common/html.js";

/** `tabs` are `{name, label, count?}`; `children` is the selected panel. */
export function Tabs({ label, tabs, chosen, onChoose, children }) {
  const id = useId();
  const list = useRef();
  useEffect(() => list.current.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [chosen]);
  const step = (event) => {
    const at = tabs.findIndex((tab) => tab.name === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    onChoose(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return html`
    <div class="tabs" ref=${list} role="tablist" aria-label=${label} onKeyDown=${step}>
      ${tabs.map(({ name, label: text, count }) => html`<button key=${name} id=${`${id}-${name}`} role="tab"
          aria-selected=${name === chosen} aria-controls=${`${id}-panel`} tabindex=${name === chosen ? 0 : -1} onClick=${() => onChoose(name)}>
        ${text}${count !== undefined && html`<span class="count">${count}</span>`}
      </button>`)}
    </div>
    <div role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${chosen}`} tabindex="0">${children}</div>`;
}
