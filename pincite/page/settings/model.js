// The form for the language model: provider, address, name and key, and a test. The key is never shown again.
import { useState } from "preact/hooks";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get, post, put } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { number, t } from "../common/words.js";

const ADDRESSES = { openai_compatible: "https://api.openai.com/v1", ollama: "http://127.0.0.1:11434", anthropic: "https://api.anthropic.com" };
const WITHOUT_SERVER = ["extractive", "llama"];

export function ModelForm({ changed }) {
  const loaded = useLoad(() => get("/providers/llm"));
  const [tried, setTried] = useState(null); // here, since a saved form is drawn anew
  return html`<section class="card model-form"><h2>${t("model.title")}</h2>
    <p class="muted">${t("model.about")}</p>
    <${Loaded} from=${loaded}>${(now) => html`<${Form} key=${`${now.provider} ${now.base_url} ${now.model} ${now.key_set}`} now=${now} tried=${tried} setTried=${setTried} set=${(value) => (loaded.set(value), changed())} />`}</${Loaded}>
  </section>`;
}

function Form({ now, set, tried, setTried }) {
  const [provider, setProvider] = useState(now.provider || (now.base_url ? "openai_compatible" : "extractive"));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    const body = { provider: provider === "extractive" ? "" : provider, base_url: given.base_url ?? "", model: given.model ?? "" };
    setBusy(true);
    setProblem(null);
    setTried(null);
    try {
      const saved = await put("/providers/llm", { ...body, ...(given.api_key ? { api_key: given.api_key } : given.forget ? { api_key: "" } : {}) });
      setTried((await post("/providers/test")).llm);
      set(saved);
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const served = !WITHOUT_SERVER.includes(provider);
  return html`<form onSubmit=${send} autocomplete="off">
    <div class="two-fields">
      <${Field} as="select" label=${t("model.provider")} value=${provider} onChange=${(event) => setProvider(event.target.value)} hint=${t(`model.provider.${provider}.why`)}>
        ${now.providers.map((one) => html`<option key=${one} value=${one} selected=${one === provider}>${t(`model.provider.${one}`)}</option>`)}
      </${Field}>
      ${served && html`<${Field} label=${t("model.address")} name="base_url" type="url" value=${now.base_url} placeholder=${ADDRESSES[provider]} maxlength="2000"
        required=${provider === "openai_compatible"} hint=${t(provider === "openai_compatible" ? "model.address.needed" : "model.address.why")} spellcheck=${false} />
      <${Field} label=${t("model.name")} name="model" value=${now.model} maxlength="200" hint=${t("model.name.why")} spellcheck=${false} />
      <${Field} label=${t("model.key")} name="api_key" type="password" autocomplete="new-password" maxlength="2000"
        placeholder=${now.key_set ? t("model.key.set") : ""} hint=${t("model.key.why")} />`}
    </div>
    ${served && now.key_set && html`<p><label class="choice"><input type="checkbox" name="forget" /><span>${t("model.key.forget")}</span></label></p>`}
    <button class="button primary" disabled=${busy} aria-busy=${busy}>${t(busy ? "providers.testing" : "model.save")}</button>
    <div role="status">
      ${problem && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`}
      ${tried?.ok && html`<p class="notice good"><${Icon} name="check" />${tried.model ? t("model.works", { model: tried.model, ms: number(tried.latency_ms ?? 0) }) : t("model.works.none")}</p>`}
      ${tried && !tried.ok && html`<p class="notice bad"><${Icon} name="warning" />${t("model.fails", { why: tried.error.message })}</p>`}
    </div>
  </form>`;
}
