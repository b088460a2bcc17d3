// The document list of the library or a folder, with filters and actions.
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { Rows } from "../parts/rows.js";
import { toast } from "../parts/toast.js";
import { html } from "../common/html.js";
import { number, t } from "../common/words.js";
import { askAbout } from "../ask/scope.js";
import { currentPlace, go } from "../shell/router.js";
import { may } from "../shell/session.js";
import { Activity } from "./activity.js";
import { Bulk } from "./bulk.js";
import { Heads } from "./heads.js";
import { Acting, useActs } from "./acts.js";
import { Filters, filterOf } from "./filters.js";
import { chosen } from "./gather.js";
import { useListing } from "./listing.js";
import { useQueue } from "./queue.js";
import { Row } from "./row.js";
import { StaleNotice } from "./stale.js";
import { folderAddress, folders, lookAtFolders } from "./tree.js";
import { onTaken, send } from "./uploads.js";

const ROW_HEIGHT = 60;
const DEBOUNCE_MS = 500;

export function Shelf({ query, person }) {
  const filter = filterOf(query);
  const listing = useListing(filter);
  const queue = useQueue();
  const acts = useActs({ done: listing.put, gone: ({ id }) => listing.drop(id) });
  const writes = may(person.role, "editor");
  useEffect(() => soonAfter(onTaken, () => (listing.refresh(), lookAtFolders())), [listing.refresh]);
  const change = (more) => go(addressWith(currentPlace().query, more), { replace: true }); // the current URL, since several changes may happen at once
  const take = (found) => (found.length ? send(found) : toast(t("documents.nothing"), { kind: "warn" }));
  const filtered = Boolean(filter.q || filter.status || filter.stale || filter.tag.length);
  const [picked, setPicked] = useState(() => new Set());
  const isMine = (one) => one.access.owner === person.id && writes;
  const pickable = listing.items.filter(isMine);
  const chosen = pickable.filter((one) => picked.has(one.id));
  const pick = (id) => setPicked((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])));
  const all = chosen.length === pickable.length;
  const heads = pickable.length > 0 ? { all, some: chosen.length > 0, toggle: () => setPicked(new Set(all ? [] : pickable.map((one) => one.id))) } : null;
  const row = (one) => html`<${Row} document=${one} job=${queue.jobs.get(one.id)} within=${filter.folder} mine=${isMine(one)}
    chosen=${picked.has(one.id)} choose=${pick} act=${acts.act} byTag=${(tag) => change({ tag: [...new Set([...filter.tag, tag])] })} />`;
  return html`<div class="room shelf">
    <header class="shelf-head">
      <${Heading} folder=${filter.folder} listing=${listing} filtered=${filtered} />
      ${writes && html`<${Adding} folder=${filter.folder} take=${take} acts=${acts} />`}
    </header>
    <${Filters} filter=${filter} change=${change} />
    <${StaleNotice} person=${person} listing=${listing} chosen=${filter.stale} />
    <${Activity} queue=${queue} />
    <${Bulk} documents=${chosen} clear=${() => setPicked(new Set())} changed=${listing.refresh} />
    ${listing.items.length > 0 && html`<${Heads} filter=${filter} change=${change} chosen=${heads} />`}
    ${listing.items.length > 0 ? html`<${Rows} items=${listing.items} height=${ROW_HEIGHT} row=${row} label=${t("view.documents")} onEnd=${listing.more} />`
      : listing.loading ? html`<div aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div><div class="skeleton"></div></div>`
      : html`<${Nothing} filtered=${filtered} folder=${filter.folder} writes=${writes} clear=${() => go(folderAddress(filter.folder), { replace: true })} />`}
    <${Acting} acts=${acts} person=${person} />
  </div>`;
}

/** Run an action after the last of several events (debounce). */
function soonAfter(subscribe, act) {
  let timer = null;
  const leave = subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(act, DEBOUNCE_MS);
  });
  return () => {
    clearTimeout(timer);
    leave();
  };
}

function addressWith(query, more) {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(more)) {
    next.delete(name);
    for (const one of [value].flat()) if (one !== null) next.append(name, one);
  }
  const text = next.toString();
  return text ? `/documents?${text}` : "/documents";
}

/** The breadcrumb of the folder, and the number of documents. */
function Heading({ folder, listing, filtered }) {
  const known = folders.use().find((one) => one.path === folder);
  const parts = folder ? folder.split("/") : [];
  const count = listing.complete ? listing.items.length : filtered ? undefined : known?.documents;
  return html`<div class="shelf-title">
    <h1>${parts.length ? parts.at(-1) : t("view.documents")}</h1>
    ${parts.length > 0 && html`<nav class="steps-up small" aria-label=${t("documents.path")}>
      <a href="/documents">${t("view.documents")}</a>
      ${parts.slice(0, -1).map((part, place) => html`<span key=${place}> / <a href=${folderAddress(parts.slice(0, place + 1).join("/"))}>${part}</a></span>`)}
    </nav>`}
    <p class="muted small" role="status">${listing.loading ? "" : count !== undefined ? t("documents.count", { count }) : t("documents.count.more", { count: number(listing.items.length) })}
      ${known?.category_label && html` · <span class="badge">${known.category_label}</span>`}</p>
  </div>`;
}

/** The buttons to add files and folders, and the actions of the current folder. */
function Adding({ folder, take, acts }) {
  const [files, directory] = [useRef(), useRef()];
  const all = folders.use();
  const own = all.find((one) => one.path === folder);
  const hear = (event) => {
    take(chosen(event.target, folder));
    event.target.value = "";
  };
  return html`<div class="bar">
    <input ref=${files} type="file" multiple hidden data-files onChange=${hear} />
    <input ref=${directory} type="file" webkitdirectory hidden data-directory onChange=${hear} />
    ${folder && html`<button class="button" onClick=${() => askAbout({ folder })}><${Icon} name="ask" />${t("folder.ask")}</button>`}
    <button class="button primary" onClick=${() => files.current.click()}><${Icon} name="upload" />${t("documents.add")}</button>
    <${Menu} label=${t("documents.add.more")} items=${[
      { label: t("documents.add.folder"), icon: "upload", onClick: () => directory.current.click() },
      { label: t("folder.make"), icon: "folder", onClick: () => acts.folder("make", { path: folder ? `${folder}/` : "" }) },
      ...(folder ? [
        null,
        { label: t("folder.change"), icon: "edit", onClick: () => acts.folder("change", own ?? { path: folder }) },
        { label: t("folder.rights"), icon: "people", onClick: () => acts.folder("rights", own ?? { path: folder }) },
        { label: t("folder.remove"), icon: "trash", danger: true, onClick: () => acts.folder("remove", own ?? { path: folder }) },
      ] : []),
    ]} />
  </div>`;
}

function Nothing({ filtered, folder, writes, clear }) {
  if (filtered) return html`<${Empty} icon="search" title=${t("documents.none.found")} action=${{ label: t("documents.none.clear"), onClick: clear }}>${t("documents.none.found.why")}</${Empty}>`;
  if (!writes) return html`<${Empty} icon="documents" title=${t("documents.none")}>${t("documents.none.reader")}</${Empty}>`;
  const samples = folder ? null : { label: t("documents.samples"), href: "/setup" };
  return html`<${Empty} icon="upload" title=${t("documents.none")} action=${samples}>${t("documents.none.why")}</${Empty}>`;
}
