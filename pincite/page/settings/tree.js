// All settings with search; several can be changed at once, and reset.
import { useMemo, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post, put } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { parseFieldText } from "../common/values.js";
import { settingDescriptions } from "../common/told.js";
import { t } from "../common/words.js";
import { Setting } from "./setting.js";

/** The groups of settings in their order, with the branches in each; a branch that none names is under `more`. */
const GROUPS = {
  model: ["llm", "agent"], answers: ["answers", "citations", "grounding", "confidence", "context", "guard"], search: ["rag", "rerank", "spelling"],
  documents: ["ingest", "chunking", "embedding", "enrichment", "graph", "tree", "late", "category_labels", "versions", "web"], conversations: ["conversation", "cache"],
  access: ["access", "oidc", "limits"], operation: ["server", "database", "data", "resilience", "traces", "logs"], more: [],
};
const GROUP_ORDER = Object.keys(GROUPS);
const groupOf = ({ key }) => GROUP_ORDER.find((name) => GROUPS[name].includes(key.split(".")[0])) ?? "more";

export function Tree({ query }) {
  const loaded = useLoad(async () => {
    const [now, schema, own] = await Promise.all([get("/settings"), get("/settings/schema"), settingDescriptions()]);
    const lines = new Map(now.items.map((line) => [line.key, line]));
    return { now, items: schema.items.map((item) => ({ ...item, ...lines.get(item.key), description: own[item.key] ?? item.description, english: item.description })) };
  });
  return html`<${Loaded} from=${loaded}>${(value) => html`<${Values} ...${value} reload=${loaded.reload} query=${query} />`}</${Loaded}>`;
}

function Values({ now, items, reload, query }) {
  const [wanted, setWanted] = useState(query.get("q") ?? "");
  const [changedOnly, setChangedOnly] = useState(false);
  const [edits, setEdits] = useState({});
  const [refused, setRefused] = useState(null);
  const [notes, setNotes] = useState([]);
  const meant = (item) => fits(item, wanted) && (!changedOnly || item.source !== "default");
  const shown = useMemo(() => items.filter(meant), [items, wanted, changedOnly]);
  const edit = (key, text) => {
    setRefused(null);
    setEdits(({ [key]: _, ...others }) => (text === null ? others : { ...others, [key]: text }));
  };
  const change = async (values) => {
    try {
      const outcome = await put("/settings", { values });
      setEdits((held) => Object.fromEntries(Object.entries(held).filter(([key]) => !(key in values))));
      setRefused(null);
      setNotes(outcome.notes);
      const undo = { label: t("settings.undo"), onClick: takeBack };
      toast(t("settings.changed", { count: outcome.changes.length }), outcome.changes.length ? { action: undo } : {});
      await reload();
    } catch (problem) {
      setRefused({ key: Object.keys(values).find((key) => problem.message.includes(`'${key}'`) || problem.message.includes(`${key}:`)), problem });
    }
  };
  const takeBack = () => post("/settings/undo").then(({ notes: told }) => (setNotes(told), toast(t("settings.undone")), reload()), toast);
  const typeOf = (key) => items.find((one) => one.key === key).type;
  const save = () => change(Object.fromEntries(Object.entries(edits).map(([key, text]) => [key, parseFieldText(text, typeOf(key))])));
  const found = Map.groupBy(shown, groupOf);
  const groups = new Map(GROUP_ORDER.filter((name) => found.has(name)).map((name) => [name, found.get(name)]));
  const count = Object.keys(edits).length;
  return html`
    <div class="bar settings-find">
      <input type="search" class="grow" aria-label=${t("settings.search")} placeholder=${t("settings.search")} value=${wanted}
        onInput=${(event) => setWanted(event.target.value)} />
      <label class="choice"><input type="checkbox" checked=${changedOnly}
        onChange=${(event) => setChangedOnly(event.target.checked)} />${t("settings.changed.only")}</label>
    </div>
    ${now.safe && html`<p class="notice warn"><${Icon} name="warning" />${t("settings.safe")}</p>`}
    ${Object.entries(now.ignored).map(([key, why]) => html`<p key=${key} class="notice warn">
      <${Icon} name="warning" />${t("settings.ignored", { key, why })}</p>`)}
    ${Object.entries(now.overridden).map(([key, why]) => html`<p key=${key} class="notice warn">
      <${Icon} name="warning" />${why}</p>`)}
    ${notes.map((note) => html`<p key=${note} class="notice" role="status"><${Icon} name="info" />${note}</p>`)}
    ${shown.length === 0 && html`<p class="muted">${t("settings.none")}</p>`}
    ${[...groups].map(([name, list]) => html`<${Group} key=${name} name=${name} list=${list}
      open=${Boolean(wanted) || changedOnly || groups.size === 1}
      edits=${edits} edit=${edit} refused=${refused} reset=${(key) => change({ [key]: null })} />`)}
    ${count > 0 && html`<div class="settings-save" role="region" aria-label=${t("settings.unsaved", { count })}>
      <p>${refused ? html`<span class="bad-text" role="alert">${refused.problem.words}</span>` : t("settings.unsaved", { count })}</p>
      <button class="button" onClick=${() => (setEdits({}), setRefused(null))}>${t("settings.discard")}</button>
      <button class="button primary" onClick=${save}>${t("settings.save")}</button>
    </div>`}`;
}

/** Whether every word occurs in a setting's name, group, description or environment variables. */
function fits(item, wanted) {
  const text = `${item.key} ${t(`settings.group.${groupOf(item)}`)} ${item.description} ${item.english} ${item.environment.join(" ")}`.toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The settings of one branch; collapsed unless a search matches. */
function Group({ name, list, open, edits, edit, refused, reset }) {
  const [chosen, setChosen] = useState(null);
  const held = list.some((item) => item.key in edits);
  const shown = held || (chosen ?? open);
  const changed = list.filter((item) => item.source !== "default").length;
  return html`<details class="settings-group" open=${shown} onToggle=${(event) => event.target.open !== shown && setChosen(event.target.open)}>
    <summary>
      <h2>${t(`settings.group.${name}`)}</h2>
      <span class="muted small">${t("settings.count", { count: list.length })}</span>
      ${changed > 0 && html`<span class="badge accent">${t("settings.count.changed", { count: changed })}</span>`}
    </summary>
    ${shown && list.map((item) => html`<${Setting} key=${item.key} item=${item} text=${edits[item.key]} edit=${(text) => edit(item.key, text)}
      error=${refused?.key === item.key ? refused.problem.words : null} reset=${() => reset(item.key)} />`)}
  </details>`;
}
