// Keys that work everywhere: one key, or `g` and then another.
import { useLayoutEffect, useRef } from "preact/hooks";

const TYPING = "input, textarea, select, [contenteditable]";
const WAIT_MS = 1200;

const actions = new Map();
let prefix = "";
let forget = null;

/** While a component is shown, do something on a key: `"/"`, `"?"`, `"g d"`, `"Escape"`. The last to come is asked first. */
export function useKey(key, action) {
  const latest = useRef(action);
  latest.current = action;
  useLayoutEffect(() => { // at once: who sees something may already press the key that closes it
    actions.set(key, [...(actions.get(key) ?? []), latest]);
    return () => actions.set(key, actions.get(key).filter((one) => one !== latest));
  }, [key]);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.matches?.(TYPING);
  if (typing && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]")) return; // a dialog has its own keys
  const pressed = prefix ? `${prefix} ${event.key}` : event.key;
  clearTimeout(forget);
  prefix = "";
  const action = actions.get(pressed)?.findLast((one) => one.current)?.current;
  if (action) {
    event.preventDefault();
    action(event);
  } else if (typing) {
    event.target.blur(); // Escape leaves a field, so that the keys count again
  } else if (event.key === "g") {
    prefix = "g";
    forget = setTimeout(() => (prefix = ""), WAIT_MS);
  }
});
