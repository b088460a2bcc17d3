// Keyboard shortcuts: one key, or `g` followed by another.
import { useLayoutEffect, useRef } from "preact/hooks";

const TYPING = "input, textarea, select, [contenteditable]";
const WAIT_MS = 1200;

const actions = new Map();
let prefix = "";
let forget = null;

/** Handle a key while a component is shown: `"/"`, `"?"`, `"g d"`, `"Escape"`. The latest handler is called first. */
export function useKey(key, action) {
  const latest = useRef(action);
  latest.current = action;
  useLayoutEffect(() => { // immediately, since the user may already press the key
    actions.set(key, [...(actions.get(key) ?? []), latest]);
    return () => actions.set(key, actions.get(key).filter((one) => one !== latest));
  }, [key]);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.matches?.(TYPING);
  if (typing && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]")) return; // a dialog handles its own keys
  const pressed = prefix ? `${prefix} ${event.key}` : event.key;
  clearTimeout(forget);
  prefix = "";
  const action = actions.get(pressed)?.findLast((one) => one.current)?.current;
  if (action) {
    event.preventDefault();
    action(event);
  } else if (typing) {
    event.target.blur(); // Escape leaves a field, which enables the shortcuts again
  } else if (event.key === "g") {
    prefix = "g";
    forget = setTimeout(() => (prefix = ""), WAIT_MS);
  }
});
