// Providers: language model, fallback, embedding model and reranker; each can be tested with a short sentence.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { number, t } from "../common/words.js";
import { ModelForm } from "./model.js";

const PARTS = { llm: "llm.", fallback: "llm.fallback.", embedding: "embedding.", reranker: "rag.reranker" };

export function Providers() {
  const loaded = useLoad(() => get("/settings"));
  const [tried, setTried] = useState(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const test = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setTried(await post("/providers/test"));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  return html`
    <${ModelForm} changed=${loaded.reload} />
    <div class="bar spaced"><p class="grow muted">${t("providers.about")}</p>
      <button class="button primary" disabled=${busy} aria-busy=${busy} onClick=${test}>
        <${Icon} name="refresh" />${t(busy ? "providers.testing" : "providers.test")}</button></div>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div role="status"><${Loaded} from=${loaded}>${({ values }) => html`<ul class="cards">
      ${Object.keys(PARTS).map((part) => html`<${Provider} key=${part} part=${part} values=${values} result=${tried?.[part]} />`)}
    </ul>`}</${Loaded}></div>
    <${Models} />`;
}

function Provider({ part, values, result: tested }) {
  const configured = {
    llm: values["llm.model"] || values["llm.provider"] || values["llm.base_url"],
    fallback: values["llm.fallback.model"] || values["llm.fallback.provider"] || values["llm.fallback.base_url"],
    embedding: values["embedding.model"] || values["embedding.provider"],
    reranker: values["rag.reranker"] === "none" ? "" : values["rag.reranker"],
  }[part];
  const result = part === "reranker" && !configured ? null : tested; // without a reranker there is nothing to test
  const facts = result ? [
    ["provider", result.provider], ["address", result.address], ["model", result.model],
    ["window", result.window && number(result.window)], ["dimensions", result.dimensions && number(result.dimensions)],
    ["latency", result.latency_ms != null && `${number(result.latency_ms, 1)} ms`],
    ["first", result.first_token_ms != null && `${number(result.first_token_ms, 1)} ms`],
  ].filter(([, value]) => value) : [];
  return html`<li class="card">
    <header class="bar"><h2>${t(`providers.part.${part}`)}</h2><span class="grow"></span>
      ${result && html`<span class=${`badge ${result.ok ? "good" : "bad"}`}>
        <${Icon} name=${result.ok ? "check" : "warning"} />${t(result.ok ? "providers.ok" : "providers.failed")}</span>`}</header>
    <p class="muted">${configured || t(`providers.none.${part}`)}</p>
    ${facts.length > 0 && html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${t(`providers.fact.${name}`)}</dt>
      <dd>${value}</dd></div>`)}</dl>`}
    ${result?.error && html`<p class="bad-text">${result.error.message} <span class="mono small">(${result.error.code})</span></p>`}
    <a class="small" href=${`/settings/values?q=${encodeURIComponent(PARTS[part])}`}>${t("providers.change")}</a>
  </li>`;
}

/** The models that the configured server offers, loaded when the button is pressed. */
function Models() {
  const [asked, setAsked] = useState(false);
  if (!asked) return html`<button class="button" onClick=${() => setAsked(true)}>${t("providers.models")}</button>`;
  return html`<${ModelList} />`;
}

function ModelList() {
  const loaded = useLoad(() => get("/providers/models"));
  return html`<${Loaded} from=${loaded}>${({ items }) => items.length ? html`
    <h2>${t("providers.models")}</h2>
    <ul>${items.map((one) => html`<li key=${one.name}>
      <code>${one.name}</code>${one.window ? ` · ${t("providers.window", { count: one.window })}` : ""}</li>`)}</ul>`
    : html`<p class="muted" role="status">${t("providers.models.none")}</p>`}</${Loaded}>`;
}
