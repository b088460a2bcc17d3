// The sources of an answer, by number; passages that are not cited are collapsed, unless the question was not answered.
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { headings } from "../common/quotes.js";
import { t } from "../common/words.js";

export function Sources({ sources, open, chosen }) {
  if (!sources.length) return null;
  const cited = sources.filter((one) => one.cited);
  const others = sources.filter((one) => !one.cited);
  return html`<section class="sources" aria-label=${t("ask.sources")}>
    ${cited.length > 0 && html`<h3>${t("ask.sources")}</h3>${list(cited, sources, open, chosen)}`}
    ${others.length > 0 && html`<details open=${!cited.length}><summary>${cited.length ? t("ask.uncited", { count: others.length }) : t("ask.nearest")}</summary>${list(others, sources, open, chosen)}</details>`}
  </section>`;
}

function list(sources, all, open, chosen) {
  return html`<ol>${sources.map((one) => (one.title || one.document_name ? entry(one, folderOf(one, all), open, chosen) : gone(one)))}</ol>`;
}

/** The folder of a source whose title another document among the sources has too. */
function folderOf(one, all) {
  const title = one.title || one.document_name;
  return all.some((other) => (other.title || other.document_name) === title && other.document_id !== one.document_id) && one.folder;
}

/** A source whose document was removed; it cannot be opened. */
function gone(one) {
  return html`<li key=${one.number}><p class="source"><span class="cite" aria-hidden="true">${one.number}</span>
    <span class="source-name muted">${t("ask.source.removed")}</span></p></li>`;
}

function entry(one, folder, open, chosen) {
  return html`<li key=${one.number}>
    <button class="source" aria-pressed=${chosen?.startsWith(one.chunk_id) ?? false} onClick=${() => open(one)}>
      <span class="cite" aria-hidden="true">${one.number}</span>
      <span class="source-name"><strong>${one.title || one.document_name}</strong>
        <span class="muted">${[folder, ...headings(one).slice(-1), one.place ?? t("ask.lines", { from: one.start_line, to: one.end_line })].filter(Boolean).join(" · ")}</span></span>
      <${Icon} name="chevron" />
    </button>
  </li>`;
}
