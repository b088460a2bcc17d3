// The content of a document: as PDF pages, text or lines.
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { LinesView } from "../source/lines.js";
import { PageView } from "../source/page.js";
import { TextView } from "../source/text.js";
import { fileOf } from "./row.js";

const VIEWS = { page: PageView, text: TextView, lines: LinesView };
const WAYS = { "application/pdf": ["page", "text"], "text/plain": ["lines"] };

export function Itself({ document }) {
  const ways = WAYS[document.mime] ?? ["text", "lines"];
  const [way, setWay] = useState(ways[0]);
  if (document.status !== "completed" && !document.chunks)
    return html`<${Empty} icon="clock" title=${t("document.unread")}>${t(document.error ? "document.unread.failed" : "document.unread.why")}</${Empty}>`;
  const place = { documentId: document.id, version: document.version, start: 0, end: 0, key: document.version };
  return html`<div class="itself">
    <h2 class="hidden-text">${t("document.view.document")}</h2>
    <div class="bar">
      ${ways.length > 1 && html`<div class="switch" role="group" aria-label=${t("source.views")}>${ways.map((name) => html`<button key=${name} class="button small" aria-pressed=${name === way}
        onClick=${() => setWay(name)}>${t(`source.view.${name}`)}</button>`)}</div>`}
      <a class="button small" href=${fileOf(document.id, document.version)} download><${Icon} name="download" />${t("source.download")}</a>
    </div>
    <${VIEWS[way]} place=${place} />
  </div>`;
}
