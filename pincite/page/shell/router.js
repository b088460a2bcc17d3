// Router: internal links change the URL without reloading the page.
import { state } from "../common/state.js";
import { VIEWS } from "./views.js";

const place = state(here());

function here() {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: location.hash.slice(1) };
}

/** The current location: `{path, query, hash}`. */
export const usePlace = () => place.use();
export const currentPlace = () => place.value;

/** Navigate to a URL; `replace` adds no history entry. */
export function go(address, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  place.set(here());
}

/** The view of a path, and the rest of the path. */
export function viewOf(path) {
  const [name, ...rest] = path.split("/").filter(Boolean).map(decoded);
  const view = name === undefined ? VIEWS[0] : VIEWS.find((one) => one.name === name);
  return view ? { view, rest } : null;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener("popstate", () => place.set(here()));
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (!viewOf(link.pathname) || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
