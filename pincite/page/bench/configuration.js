// One configuration of the bench: strategy, profile and settings.
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";

export const STRATEGIES = ["hybrid", "dense_only", "lexical_only", "fusion", "two_stage", "hierarchical"];

let last = 0;
export const fresh = (values = {}) => ({ id: `c${Date.now()}-${(last += 1)}`, strategy: "", profile: "", settings: "", ...values });

export function Configuration({ value, number, change, remove, administrator }) {
  const set = (name) => (event) => change({ [name]: event.target.value });
  const { value: known } = useLoad(() => (administrator ? get("/profiles") : { items: [] }));
  const id = `configuration-${value.id}`;
  return html`<fieldset class="card configuration">
    <legend><span class="hidden-text">${t("bench.configuration", { number })}</span><span class="letter" aria-hidden="true">${number}</span></legend>
    <label>${t("bench.strategy")} <select value=${value.strategy} onChange=${set("strategy")}>
      <option value="">${t("bench.as.is")}</option>
      ${STRATEGIES.map((one) => html`<option key=${one} value=${one} selected=${one === value.strategy}>${one}</option>`)}
    </select></label>
    <label>${t("replay.profile")} <input list=${`${id}-profiles`} value=${value.profile} placeholder=${t("bench.none")} spellcheck=${false}
      onInput=${set("profile")} /></label>
    <datalist id=${`${id}-profiles`}>${(known?.items ?? []).map((one) => html`<option key=${one.name} value=${one.name} />`)}</datalist>
    <label class="wide">${t("replay.settings")} <input value=${value.settings} placeholder="rag.alpha=0.2" spellcheck=${false}
      onInput=${set("settings")} /></label>
    ${remove && html`<button type="button" class="icon-button small" aria-label=${t("bench.remove", { number })} onClick=${remove}>
      <${Icon} name="close" /></button>`}
  </fieldset>`;
}
