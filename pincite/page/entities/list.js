// The list of entities, most mentioned first, found by a part of their name; how to turn the graph on where there are none.
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post, put } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { may } from "../shell/session.js";
import { Kind } from "./kind.js";

const SHOWN = 100;
const PAUSE_MS = 200;

export function List({ query, person }) {
  const asked = query.get("q") ?? "";
  const loaded = useLoad(() => get("/graph/entities", { q: asked, limit: SHOWN }), [asked]);
  const timer = useRef();
  useEffect(() => () => clearTimeout(timer.current), []);
  const find = (event) => {
    const text = event.target.value.trim();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go(`/entities${text ? `?${new URLSearchParams({ q: text })}` : ""}`, { replace: true }), PAUSE_MS);
  };
  return html`<div class="room">
    <header><h1>${t("view.entities")}</h1></header>
    <div class="bar filters" role="search">
      <label class="grow">${t("entities.find")} <input type="search" value=${asked} onInput=${find} autocomplete="off" /></label>
    </div>
    <${Loaded} from=${loaded}>${({ items, build }) => html`${loaded.problem && html`<${Trouble} problem=${loaded.problem} />`}
      <p class="hidden-text" role="status">${t("entities.count", { count: items.length })}</p>
      ${items.length > 0 ? html`${!asked && html`<p class="muted">${t("entities.newest")}</p>`}
        <ul class="entity-list" aria-label=${t("view.entities")}>${items.map((one) => html`<li key=${one.id}><${Row} entity=${one} /></li>`)}</ul>`
        : asked ? html`<${Empty} icon="search" title=${t("entities.unknown", { name: asked })}>${t("entities.unknown.why")}</${Empty}>`
        : html`<${Nothing} build=${build} person=${person} reload=${loaded.reload} />`}`}</${Loaded}>
  </div>`;
}

function Row({ entity }) {
  return html`<a href=${`/entities/${encodeURIComponent(entity.id)}`}><strong class="grow">${entity.name}</strong>
    <${Kind} name=${entity.type} /><span class="muted small nowrap">${t("entities.mentions", { count: entity.mentions })}</span></a>`;
}

/** Nothing is extracted yet: the administrator can turn it on here, for the documents that are there, too. */
function Nothing({ build, person, reload }) {
  const [busy, setBusy] = useState(false);
  const [started, setStarted] = useState(false);
  const off = build === "off";
  const start = async () => {
    setBusy(true);
    try {
      if (off) await put("/settings", { "graph.build": "rules" });
      await post("/documents/reindex", { engine: "graph" });
      setStarted(true);
    } catch (problem) {
      toast(problem);
    }
    setBusy(false);
  };
  if (started) return html`<${Empty} icon="entities" title=${t("entities.building")} action=${{ label: t("entities.look"), onClick: reload }}>${t("entities.building.why")}</${Empty}>`;
  const able = may(person?.role, off ? "administrator" : "editor");
  const action = able && !busy ? { label: t(off ? "entities.on" : "entities.build"), onClick: start } : null;
  return html`<${Empty} icon="entities" title=${t("entities.none")} action=${action}>
    ${t(off ? "entities.off.why" : "entities.none.why")} ${off && t(able ? "entities.off.do" : "entities.off.ask")} <code>graph.build</code></${Empty}>`;
}
