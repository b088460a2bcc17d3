// The column heads of the document list: they sort it, and select all documents.
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const NEWEST_FIRST = ["size", "changed"];

/** `change` changes the URL query; `chosen` is `{all, some, toggle}`, or null if nothing can be selected. */
export function Heads({ filter, change, chosen }) {
  const head = (name, kind) => {
    const now = (filter.sort ?? "name") === name;
    const down = Boolean(filter.descending);
    const next = now ? !down : NEWEST_FIRST.includes(name);
    const label = t(`documents.sort.${name}`);
    return html`<button class=${`head ${kind}`} aria-pressed=${now} aria-label=${t(next ? "documents.sort.down" : "documents.sort.up", { by: label })}
      onClick=${() => change({ sort: name, descending: next ? "true" : null })}>${label}${now && html`<span class=${`arrow ${down ? "down" : ""}`}><${Icon} name="send" /></span>`}</button>`;
  };
  return html`<div class="document-heads" role="group" aria-label=${t("documents.sort")}>
    ${chosen ? html`<input type="checkbox" checked=${chosen.all} indeterminate=${chosen.some && !chosen.all} aria-label=${t("bulk.all")} onChange=${chosen.toggle} />` : html`<span></span>`}
    <span></span>
    <div class="document-name bar">${head("name", "")}${head("title", "")}</div>
    <span class="document-tags head">${t("documents.tags")}</span>
    <span class="document-status head">${t("documents.status")}</span>
    ${head("size", "document-size")}
    ${head("changed", "document-date")}
    <span class="menu-space"></span>
  </div>`;
}
