// One setting: description, allowed values, source of the value, and a field to change it.
import { useId } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { formatValue, toFieldText } from "../common/values.js";
import { told } from "../common/told.js";
import { t } from "../common/words.js";

const BADGE_KINDS = { default: "", file: "accent", environment: "accent", database: "accent", call: "warn" };

export function Setting({ item, text, edit, error, reset }) {
  const id = useId();
  const edited = text !== undefined;
  return html`<div class=${`setting ${edited ? "edited" : ""} ${error ? "wrong" : ""}`} id=${`setting-${item.key}`}>
    <div class="setting-about">
      <label class="mono" for=${id}>${item.key}</label>
      <p>${described(item.description)}</p>
      <p class="small muted">${t("settings.allowed", { allowed: told(item.allowed), fallback: formatValue(item.default) })} ·${" "}
        <code>${item.environment[0]}</code></p>
    </div>
    <div class="setting-value">
      ${item.changeable ? html`<${Editor} id=${id} item=${item} text=${text} edit=${edit} error=${error} />` : html`<${Fixed} id=${id}
        item=${item} />`}
      ${error && html`<p class="bad-text small" id=${`${id}-error`}>${error}</p>`}
      <div class="setting-origin">
        <span class=${`badge ${BADGE_KINDS[item.source]}`}>${t(`settings.source.${item.source}`)}</span>
        <span class="badge">${t(`settings.acts.${item.acts}`)}</span>
        ${item.stored !== undefined && html`<span class="badge warn">${t("settings.stored", { value: formatValue(item.stored) })}</span>`}
        ${(item.source === "database" || item.stored !== undefined) && html`<button class="button quiet small" onClick=${reset}>
          <${Icon} name="undo" />${t("settings.reset")}</button>`}
      </div>
    </div>
  </div>`;
}

/** Render text between backticks as code. */
const described = (text) => text.split("`").map((part, place) => (place % 2 ? html`<code key=${place}>${part}</code>` : part));

function Editor({ id, item, text, edit, error }) {
  const now = toFieldText(item.value, item.type);
  const shown = text ?? now;
  const change = (value) => edit(value === now ? null : value);
  const all = { id, value: shown, "aria-invalid": error ? "true" : null, "aria-describedby": error ? `${id}-error` : null };
  if (item.type === "boolean" || item.choices.length) {
    const choices = item.type === "boolean" ? ["true", "false"] : item.choices;
    return html`<select ...${all} onChange=${(event) => change(event.target.value)}>
      ${choices.map((choice) => html`<option key=${choice} value=${choice}
        selected=${choice === shown}>${item.type === "boolean" ? t(choice === "true" ? "value.yes" : "value.no") : choice}</option>`)}
    </select>`;
  }
  const typed = { ...all, spellcheck: false, onInput: (event) => change(event.target.value) };
  const rows = Math.min(6, shown.split("\n").length + 1);
  if (item.type === "list" || item.type === "table" || shown.length > 60) return html`<textarea rows=${rows} ...${typed}></textarea>`;
  return html`<input inputmode=${item.type === "integer" ? "numeric" : item.type === "number" ? "decimal" : null} autocomplete="off" ...${typed} />`;
}

/** The note on a setting that cannot be changed here. */
function Fixed({ id, item }) {
  const value = item.secret ? t(item.set ? "settings.secret.set" : "settings.secret.unset") : formatValue(item.value);
  return html`<output id=${id} class="setting-fixed"><${Icon} name="lock" /><span>${value}</span></output>
    <p class="small muted">${told(item.reason)}</p>`;
}
