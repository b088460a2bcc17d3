// The folder tree in the side bar.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Rows } from "../parts/rows.js";
import { toast } from "../parts/toast.js";
import { pages } from "../common/api.js";
import { html } from "../common/html.js";
import { state } from "../common/state.js";
import { number, t } from "../common/words.js";
import { usePlace } from "../shell/router.js";

const ROW_HEIGHT = 34;
export const folders = state([]);

/** Reload the folders after a change. */
export async function lookAtFolders() {
  try {
    const found = [];
    for await (const page of pages("/folders")) found.push(...page);
    folders.set(found);
  } catch (problem) {
    toast(problem);
  }
}

export const folderAddress = (path) => (path ? `/documents?folder=${encodeURIComponent(path)}` : "/documents");

export function Tree() {
  const all = folders.use();
  const { path, query } = usePlace();
  const here = path === "/documents" ? query.get("folder") ?? "" : null;
  const [open, setOpen] = useState(() => new Set());
  useEffect(() => {
    if (here) setOpen((before) => new Set([...before, ...above(here)]));
  }, [here]);
  const shown = [{ path: "", depth: 0 }, ...visible(all, open)];
  const turn = (path) => setOpen((before) => {
    const after = new Set(before);
    if (!after.delete(path)) after.add(path);
    return after;
  });
  return html`<h2 class="aside-title">${t("documents.folders")}</h2>
    <${Rows} items=${shown.map((one) => ({ ...one, id: one.path }))} height=${ROW_HEIGHT} label=${t("documents.folders")} row=${(one) => html`
      <div class="folder-row" style=${{ paddingLeft: `${one.depth * 0.9}rem` }}>
        ${one.inner ? html`<button class=${`icon-button small fold ${open.has(one.path) ? "open" : ""}`} aria-expanded=${open.has(one.path)}
          aria-label=${t("documents.folder.inner", { path: one.path })} onClick=${() => turn(one.path)}><${Icon} name="chevron" /></button>` : html`<span class="fold"></span>`}
        <a href=${folderAddress(one.path)} aria-current=${one.path === here ? "page" : null} title=${one.path}>
          <span class="clip">${one.path ? one.path.split("/").at(-1) : t("documents.all")}</span>
          ${one.documents !== undefined && html`<span class="count">${number(one.documents)}</span>`}
        </a>
      </div>`} />`;
}

/** The visible folders; intermediate folders may not be listed by the service. */
function visible(all, open) {
  const paths = new Map(all.map((one) => [one.path, one]));
  for (const { path } of all) for (const up of above(path)) if (!paths.has(up)) paths.set(up, { path: up });
  const parents = new Set([...paths.keys()].map((path) => path.slice(0, path.lastIndexOf("/"))).filter(Boolean));
  return [...paths.values()]
    .filter(({ path }) => above(path).every((up) => open.has(up)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((one) => ({ ...one, depth: one.path.split("/").length, inner: parents.has(one.path) && paths.has(one.path) }));
}

function above(path) {
  const parts = path.split("/");
  return parts.slice(1).map((_, place) => parts.slice(0, place + 1).join("/"));
}
