// The scope and options of a question: folder, documents, date, level, mode, and when documents are searched.
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { get, pages } from "../common/api.js";
import { html } from "../common/html.js";
import { state } from "../common/state.js";
import { day, t } from "../common/words.js";
import { go } from "../shell/router.js";

const NO_SCOPE = { folder: "", documents: [], tags: [], asOf: "", level: "", mode: "", rag: "", look: false };
export const LEVELS = ["basic", "standard", "enhanced", "maximum"];
const MODES = ["chat", "agent", "general"];
const RAG_MODES = ["always", "automatic", "manual"];
const MAX_SUGGESTIONS = 20;

export const scope = state(NO_SCOPE);

/** Begin a conversation about a folder or some documents. */
export function askAbout(what) {
  scope.set({ ...NO_SCOPE, ...what });
  go("/ask");
}

/** The scope as request options; defaults are left out. */
export function asOptions({ folder, documents, tags, asOf, level, mode, rag, look }) {
  return {
    ...(folder && { folder }),
    ...(documents.length > 0 && { document_ids: documents.map((one) => one.id) }),
    ...(tags.length > 0 && { tags }),
    ...(asOf && { as_of: asOf }),
    ...(level && { intelligence_level: level }),
    ...(mode && { mode }),
    ...(rag && { rag: { mode: rag, ...(rag === "manual" && { enabled: look }) } }),
  };
}

/** The button that shows the current scope. */
export function ScopeButton({ chosen, open }) {
  const { folder, documents, tags, asOf, level, mode, rag, look } = chosen;
  const parts = [
    folder,
    documents.length === 1 ? documents[0].title || documents[0].name : documents.length > 0 && t("scope.documents.chosen", { count: documents.length }),
    ...tags.map((tag) => `#${tag}`),
    asOf && t("scope.asof.chosen", { day: day(asOf) }),
    level && t(`scope.level.${level}`),
    mode && t(`scope.mode.${mode}`),
    rag && t(`scope.rag.${rag}.short`),
  ].filter(Boolean);
  return html`<span class="scope">
    <button type="button" class="button quiet small" onClick=${open} aria-haspopup="dialog"><${Icon} name="filter" /><span class="clip">${parts.join(" · ") || t("scope.all")}</span></button>
    ${parts.length > 0 && html`<button type="button" class="icon-button small" aria-label=${t("scope.clear")} onClick=${() => scope.set(NO_SCOPE)}><${Icon} name="close" /></button>`}
    ${rag === "manual" && html`<label class="choice nowrap small"><input type="checkbox" checked=${look}
      onChange=${(event) => scope.set((before) => ({ ...before, look: event.target.checked }))} /><span>${t("scope.look")}</span></label>`}
  </span>`;
}

export function ScopeDialog({ close }) {
  const chosen = scope.use();
  const [folders, setFolders] = useState([]);
  useEffect(() => {
    (async () => {
      for await (const page of pages("/folders", { limit: 200 })) setFolders((before) => [...before, ...page]);
    })().catch(toast);
  }, []);
  const set = (more) => scope.set((before) => ({ ...before, ...more }));
  const choose = (name) => (event) => set({ [name]: event.target.value });
  return html`<${Dialog} title=${t("scope.title")} close=${close} footer=${html`
      <button type="button" class="button" onClick=${() => scope.set(NO_SCOPE)}>${t("scope.clear")}</button>
      <button type="button" class="button primary" onClick=${close}>${t("scope.done")}</button>`}>
    <${Field} as="select" label=${t("scope.folder")} value=${chosen.folder} onChange=${choose("folder")}>
      <option value="">${t("scope.folder.all")}</option>
      ${folders.map(({ path, documents }) => html`<option key=${path} value=${path} selected=${path === chosen.folder}>${path} (${documents})</option>`)}
    </${Field}>
    <${Documents} chosen=${chosen.documents} folder=${chosen.folder} set=${(documents) => set({ documents })} />
    <${Tags} chosen=${chosen.tags} set=${(tags) => set({ tags })} />
    <${Field} type="date" label=${t("scope.asof")} hint=${t("scope.asof.why")} value=${chosen.asOf} max=${new Date().toISOString().slice(0, 10)} onChange=${choose("asOf")} />
    <div class="two-fields">
      ${choice(t("scope.level"), "scope.level.", LEVELS, chosen.level, choose("level"), t("scope.level.why"))}
      ${choice(t("scope.mode"), "scope.mode.", MODES, chosen.mode, choose("mode"), t("scope.mode.why"))}
    </div>
    ${choice(t("scope.rag"), "scope.rag.", RAG_MODES, chosen.rag, choose("rag"), t("scope.rag.why"))}
  </${Dialog}>`;
}

function choice(label, prefix, values, chosen, onChange, hint) {
  return html`<${Field} as="select" label=${label} hint=${hint} value=${chosen} onChange=${onChange}>
    <option value="">${t("scope.usual")}</option>
    ${values.map((value) => html`<option key=${value} value=${value} selected=${value === chosen}>${t(prefix + value)}</option>`)}
  </${Field}>`;
}

/** The tags that a document must have, all of them; tags of the library are proposed. */
function Tags({ chosen, set }) {
  const [known, setKnown] = useState([]);
  useEffect(() => {
    get("/documents", { limit: 1000 }).then(({ items }) => setKnown([...new Set(items.flatMap((one) => one.tags))].sort()), toast);
  }, []);
  if (!known.length && !chosen.length) return null;
  const toggle = (tag) => set(chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag]);
  return html`<fieldset class="field"><legend>${t("scope.tags")}</legend><div class="marks">
    ${[...new Set([...chosen, ...known])].map((tag) => html`<button type="button" key=${tag} class="badge tag" aria-pressed=${chosen.includes(tag)} onClick=${() => toggle(tag)}>
      <${Icon} name=${chosen.includes(tag) ? "check" : "tag"} />${tag}</button>`)}</div></fieldset>`;
}

function Documents({ chosen, folder, set }) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState([]);
  useEffect(() => {
    const timer = setTimeout(() => get("/documents", { q: words, folder, limit: MAX_SUGGESTIONS, status: "completed" }).then(({ items }) => setFound(items), toast), 150);
    return () => clearTimeout(timer);
  }, [words, folder]);
  const ids = new Set(chosen.map((one) => one.id));
  const shown = [...chosen, ...found.filter((one) => !ids.has(one.id))];
  const toggle = (one) => set(ids.has(one.id) ? chosen.filter(({ id }) => id !== one.id) : [...chosen, { id: one.id, title: one.title, name: one.name }]);
  return html`<fieldset class="field document-choice">
    <legend>${t("scope.documents")}</legend>
    <input type="search" aria-label=${t("scope.documents.search")} placeholder=${t("scope.documents.search")} value=${words} onInput=${(event) => setWords(event.target.value)} />
    <div class="choices">
      ${shown.map((one) => html`<label key=${one.id} class="choice"><input type="checkbox" checked=${ids.has(one.id)} onChange=${() => toggle(one)} /><span>${one.title || one.name}</span></label>`)}
      ${shown.length === 0 && html`<p class="muted">${t("scope.documents.none")}</p>`}
    </div>
  </fieldset>`;
}
