// The content of a document: as PDF pages, text or lines.
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { SOURCE_VIEWS, waysOf } from "../source/views.js";
import { fileOf } from "./row.js";

/** The span in the URL is highlighted: `?version=…&start=…&end=…`, as links of exported answers have it. */
function placeIn(document, query) {
  const [start, end] = ["start", "end"].map((name) => Math.max(0, Number(query.get(name)) || 0));
  const version = query.get("version") ?? document.version;
  return { documentId: document.id, version, start, end: Math.max(start, end), key: `${version}:${start}` };
}

export function Itself({ document, query }) {
  const ways = waysOf(document.mime);
  const [way, setWay] = useState(ways[0]);
  if (document.status !== "completed" && !document.chunks)
    return html`<${Empty} icon="clock" title=${t("document.unread")}>${t(document.error ? "document.unread.failed" : "document.unread.why")}</${Empty}>`;
  const place = placeIn(document, query);
  return html`<div class="itself">
    <h2 class="hidden-text">${t("document.view.document")}</h2>
    <div class="bar">
      ${ways.length > 1 && html`<div class="switch" role="group" aria-label=${t("source.views")}>${ways.map((name) => html`<button key=${name} class="button small" aria-pressed=${name === way}
        onClick=${() => setWay(name)}>${t(`source.view.${name}`)}</button>`)}</div>`}
      <a class="button small" href=${fileOf(document.id, document.version)} download><${Icon} name="download" />${t("source.download")}</a>
    </div>
    <${SOURCE_VIEWS[way]} place=${place} mime=${document.mime} />
  </div>`;
}
