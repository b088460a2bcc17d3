// The source document beside the answer, at the cited passage: as PDF page, text or lines.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Tabs } from "../parts/tabs.js";
import { API, get } from "../common/api.js";
import { html } from "../common/html.js";
import { moment, t } from "../common/words.js";
import { SOURCE_VIEWS, waysOf } from "./views.js";

/** `place` is `{documentId, version, start, end, title, name, heading, where, …}`; offsets are of that version's text. */
export function SourceView({ place, close }) {
  const [about, setAbout] = useState(null);
  const [problem, setProblem] = useState(null);
  const [shown, setShown] = useState(null);
  const heading = useRef();
  useEffect(() => {
    let left = false;
    setProblem(null);
    look(place.documentId, place.version).then((found) => left || (setAbout(found), setShown(found.views[0])), (error) => left || setProblem(error));
    return () => (left = true);
  }, [place.documentId, place.version]);
  useEffect(() => heading.current.focus(), [place.key]);
  const ready = about?.id === place.documentId && about?.version === place.version;
  return html`<section class="source-view" aria-label=${t("source.title")}>
    <header>
      <div>
        <h2 tabindex="-1" ref=${heading}>${place.title || place.name}</h2>
        <p class="muted small">${[place.heading?.join(" › "), place.where].filter(Boolean).join(" · ")}</p>
        ${ready && html`<p class="muted small">${about.name} · ${t("source.version", { number: about.number, of: about.of, date: moment(about.date) })}
          ${about.newest ? null : html` <span class="badge warn">${t("source.old")}</span>`}</p>`}
      </div>
      <a class="icon-button" href=${`${API}/documents/${place.documentId}/file?version=${encodeURIComponent(place.version)}`} download aria-label=${t("source.download")} data-hint=${t("source.download")}><${Icon} name="download" /></a>
      <button class="icon-button" aria-label=${t("dialog.close")} data-hint=${t("dialog.close")} onClick=${close}><${Icon} name="close" /></button>
    </header>
    ${problem && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.status === 404 ? t("source.gone") : problem.words}</p>
      ${place.quote && html`<blockquote class="source-quote">${place.quote}</blockquote>`}`}
    ${!problem && !ready && html`<div class="source-body" aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div></div>`}
    ${!problem && ready && (about.views.length > 1
      ? html`<${Tabs} label=${t("source.views")} chosen=${shown} onChoose=${setShown} tabs=${about.views.map((name) => ({ name, label: t(`source.view.${name}`) }))}>${body(shown, place, about)}</${Tabs}>`
      : body(about.views[0], place, about))}
  </section>`;
}

const body = (name, place, about) => html`<${SOURCE_VIEWS[name]} place=${place} mime=${about.mime} />`;

/** Load the properties of a version: its number, date and available views. */
async function look(id, version) {
  const [document, versions] = await Promise.all([get(`/documents/${id}`), get(`/documents/${id}/versions`)]);
  const at = versions.items.findIndex((one) => one.id === version || one.version === version);
  const found = versions.items[at] ?? {};
  const mime = found.mime ?? document.mime;
  return {
    id, version, mime, views: waysOf(mime), name: document.name, date: found.created_at ?? document.updated_at,
    number: versions.items.length - at, of: versions.items.length, newest: at <= 0,
  };
}
