// One document: properties, content, passages and versions.
import { useEffect, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { Tabs } from "../parts/tabs.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { told } from "../common/told.js";
import { bytes, moment, t } from "../common/words.js";
import { go } from "../shell/router.js";
import { may } from "../shell/session.js";
import { Acting, useActs } from "./acts.js";
import { Itself } from "./itself.js";
import { Passages } from "./passages.js";
import { onEnded, useQueue } from "./queue.js";
import { actionsOn, addressOf } from "./row.js";
import { Status } from "./stages.js";
import { folderAddress } from "./tree.js";
import { Versions } from "./versions.js";

const VIEWS = ["document", "passages", "versions"];

export function One({ id, query, person }) {
  const [document, setDocument] = useState(null);
  const [problem, setProblem] = useState(null);
  const [gone, setGone] = useState(false);
  const queue = useQueue();
  const look = () => get(`/documents/${encodeURIComponent(id)}`).then(setDocument, setProblem);
  useEffect(() => void look(), [id]);
  useEffect(() => onEnded((ended) => ended === id && look()), [id]);
  useEffect(() => {
    if (document) window.document.title = `${document.title} · pincite`;
  }, [document]);
  const acts = useActs({ done: setDocument, gone: () => setGone(true) });
  const leave = () => (acts.close(), gone && go(folderAddress(document.folder)));
  if (problem) return html`<${Empty} heading="h1" icon="search" title=${t(problem.status === 404 ? "document.gone" : "document.failed")} action=${{ label: t("view.documents"), href: "/documents" }}>
    ${problem.status === 404 ? t("document.gone.why") : problem.words}</${Empty}>`;
  if (!document) return html`<div class="room" aria-busy="true"><div class="skeleton wide"></div><div class="skeleton"></div></div>`;
  const job = queue.jobs.get(id);
  const shown = VIEWS.includes(query.get("view")) ? query.get("view") : VIEWS[0];
  const mine = document.access.owner === person.id && may(person.role, "editor");
  const choose = (view) => go(`${addressOf(document)}?view=${view}`, { replace: true });
  const tabs = [
    { name: "document", label: t("document.view.document") },
    { name: "passages", label: t("document.view.passages"), count: document.chunks },
    { name: "versions", label: t("document.view.versions"), count: document.versions },
  ];
  return html`<div class="room one">
    <header>
      <div class="one-title">
        <p class="small"><a href=${folderAddress(document.folder)}><${Icon} name="back" />${document.folder || t("view.documents")}</a></p>
        <h1>${document.title}</h1>
      </div>
      <${Status} document=${document} job=${job} />
      ${document.chunks > 0 && html`<button class="button" onClick=${() => acts.act("ask", document)}><${Icon} name="ask" />${t("documents.act.ask")}</button>`}
      <${Menu} label=${t("documents.more", { name: document.name })} items=${actionsOn(document, job, mine, acts.act)} />
    </header>
    <${About} document=${document} person=${person} />
    <${Tabs} label=${t("document.views")} tabs=${tabs} chosen=${shown} onChoose=${choose}>
      ${shown === "document" && html`<${Itself} key=${document.version + query} document=${document} query=${query} />`}
      ${shown === "passages" && html`<${Passages} key=${document.version + document.updated_at} document=${document} query=${query} />`}
      ${shown === "versions" && html`<${Versions} key=${document.versions} document=${document} query=${query} />`}
    </${Tabs}>
    <${Acting} acts=${{ ...acts, close: leave }} person=${person} />
  </div>`;
}

/** The properties of a document. */
function About({ document, person }) {
  const { access } = document;
  const readers = [...access.users, ...access.groups, ...access.roles.map((role) => t(`role.${role}`)), ...(access.everyone ? [t("rights.everyone.short")] : [])];
  const facts = [
    [t("document.file"), document.name],
    [t("document.size"), bytes(document.bytes)],
    [t("document.author"), document.author],
    [t("document.updated"), moment(document.updated_at)],
    [t("document.readers"), readers.join(", ") || (access.owner === person.id ? t("rights.only.you") : t("rights.with.you", { owner: access.owner }))],
    [t("document.source"), document.source_uri],
  ].filter(([, value]) => value);
  return html`
    ${document.error && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${told(document.error.message)}</p>`}
    ${(document.notes ?? []).map((note) => html`<p key=${note} class="notice warn"><${Icon} name="info" />${note}</p>`)}
    ${document.description && html`<p class="lead">${document.description}</p>`}
    <dl class="known">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${document.tags.length > 0 && html`<p class="marks">${document.tags.map((tag) => html`<a key=${tag} class="badge accent" href=${`/documents?tag=${encodeURIComponent(tag)}`}><${Icon} name="tag" />${tag}</a>`)}</p>`}`;
}
