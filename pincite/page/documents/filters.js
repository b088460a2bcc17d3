// Filters of the document list: search, status and tags.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const STATUSES = ["completed", "processing", "pending", "error", "stale"];
export const SORTS = ["name", "title", "size", "changed"];
const DEBOUNCE_MS = 250;

/** Convert a URL query to a filter of the service. */
export function filterOf(query) {
  const status = query.get("status");
  return {
    folder: query.get("folder") ?? "",
    q: query.get("q") ?? "",
    tag: query.getAll("tag"),
    ...(SORTS.includes(query.get("sort")) && { sort: query.get("sort") }),
    ...(query.get("descending") === "true" && { descending: true }),
    ...(status === "stale" ? { stale: true } : { status: STATUSES.includes(status) ? status : "" }),
  };
}

/** `change(more)` changes values of the URL query; null removes one. */
export function Filters({ filter, change }) {
  const [words, setWords] = useState(filter.q);
  useEffect(() => setWords(filter.q), [filter.q]);
  useEffect(() => {
    if (words === filter.q) return undefined;
    const timer = setTimeout(() => change({ q: words || null }), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const status = filter.stale ? "stale" : filter.status;
  return html`<div class="bar shelf-filters" role="search">
    <span class="grow searching"><${Icon} name="search" /><input type="search" value=${words} aria-label=${t("documents.search")} placeholder=${t("documents.search")}
      maxlength="2000" onInput=${(event) => setWords(event.target.value)} /></span>
    <select aria-label=${t("documents.status")} value=${status} onChange=${(event) => change({ status: event.target.value || null })}>
      <option value="">${t("documents.status.all")}</option>
      ${STATUSES.map((name) => html`<option key=${name} value=${name} selected=${name === status}>${t(`status.${name}`)}</option>`)}
    </select>
    <select class="narrow-only" aria-label=${t("documents.sort")} value=${filter.sort ?? "name"} onChange=${(event) => change({ sort: event.target.value, descending: ["size", "changed"].includes(event.target.value) ? "true" : null })}>
      ${SORTS.map((name) => html`<option key=${name} value=${name} selected=${name === (filter.sort ?? "name")}>${t(`documents.sort.${name}`)}</option>`)}
    </select>
    ${filter.tag.map((tag) => html`<span key=${tag} class="badge accent"><${Icon} name="tag" />${tag}
      <button class="chip-drop" aria-label=${t("documents.tag.drop", { tag })} onClick=${() => change({ tag: filter.tag.filter((one) => one !== tag) })}><${Icon} name="close" /></button></span>`)}
  </div>`;
}
