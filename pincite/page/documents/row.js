// One row of the document list, with its actions.
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { API } from "../common/api.js";
import { html } from "../common/html.js";
import { told } from "../common/told.js";
import { bytes, day, t } from "../common/words.js";
import { Status } from "./stages.js";

export const addressOf = (document) => `/documents/${encodeURIComponent(document.id)}`;
export const fileOf = (id, version) => `${API}/documents/${encodeURIComponent(id)}/file${version ? `?version=${encodeURIComponent(version)}` : ""}`;

/** `act(name, document)` runs an action; `within` is the shown folder, which is not repeated. */
export function Row({ document, job, within, mine, act, byTag, chosen, choose }) {
  const below = document.folder === within ? "" : document.folder.slice(within ? within.length + 1 : 0);
  const problem = document.status === "error" && !job ? told(document.error?.message) : null;
  return html`<div class="document-row">
    ${mine ? html`<input type="checkbox" checked=${chosen} aria-label=${t("bulk.choose", { name: document.name })} onChange=${() => choose(document.id)} />` : html`<span></span>`}
    <${FileKind} document=${document} />
    <div class="document-name">
      <a href=${addressOf(document)} class="clip">${document.title || document.name}</a>
      <span class=${`clip small ${problem ? "problem" : "muted"}`} title=${problem}>${problem ?? [below, document.name !== document.title && document.name].filter(Boolean).join(" / ")}</span>
    </div>
    <div class="document-tags">${document.tags.slice(0, 2).map((tag) => html`<button key=${tag} class="badge tag clip" onClick=${() => byTag(tag)}
      aria-label=${t("documents.tag.only", { tag })}>${tag}</button>`)}</div>
    <div class="document-status"><${Status} document=${document} job=${job} /></div>
    <span class="document-size small muted">${bytes(document.bytes)}</span>
    <span class="document-date small muted">${day(document.updated_at)}</span>
    <${Menu} label=${t("documents.more", { name: document.name })} items=${actionsOn(document, job, mine, act)} />
  </div>`;
}

const KINDS = { pdf: "pdf", xlsx: "sheet", xlsm: "sheet", csv: "sheet", tsv: "sheet", pptx: "slides", png: "image", jpg: "image", jpeg: "image", webp: "image", tif: "image", tiff: "image", bmp: "image", eml: "mail", html: "web", htm: "web" };

/** The ending of the file's name as a label, coloured by the kind of the file. */
function FileKind({ document }) {
  const ending = /\.(\w{1,5})$/.exec(document.name)?.[1].toLowerCase() ?? "";
  return html`<span class=${`file-kind ${KINDS[ending] ?? ""}`} aria-hidden="true">${ending || html`<${Icon} name="documents" />`}</span>`;
}

/** The actions of a document; the owner has more. */
export function actionsOn(document, job, mine, act) {
  const one = (name, icon, more = {}) => ({ label: t(`documents.act.${name}`), icon, onClick: () => act(name, document), ...more });
  const own = [
    one("edit", "edit"), one("rights", "people"), one("reindex", "refresh"),
    ...(job ? [one("cancel", "stop")] : []), null, one("remove", "trash", { danger: true }),
  ];
  const asked = document.chunks ? [one("ask", "ask")] : [];
  return [...asked, one("download", "download"), ...(mine ? own : [])];
}
