// The texts of the page in the user's language: `t(name)`, `t(name, { count: 3 })`.
import { kept } from "./kept.js";

export const LANGUAGES = { en: "English", de: "Deutsch" };
const LOADERS = { en: () => import("../words/en.js"), de: () => import("../words/de.js") };

let words = {};
let plurals = new Intl.PluralRules("en");
export let language = "en";
let region = "en";

/** The language chosen on this device, or the first supported language of the browser. */
export function wanted() {
  const chosen = kept.get("language");
  const asked = [chosen, ...navigator.languages.map((one) => one.slice(0, 2))];
  return asked.find((one) => one in LANGUAGES) ?? "en";
}

export async function loadWords() {
  language = wanted();
  words = (await LOADERS[language]()).default;
  plurals = new Intl.PluralRules(language);
  region = navigator.languages.find((one) => one.startsWith(language)) ?? language;
  document.documentElement.lang = language;
}

/** Return a text; `{name}` is replaced, and `count` selects the plural form. */
export function t(key, values = {}) {
  const form = values.count === undefined ? undefined : words[`${key}.${plurals.select(values.count)}`];
  const phrase = form ?? words[key] ?? words[`${key}.other`] ?? key;
  return phrase.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : String(value);
  });
}

/** Whether a text with this key exists. */
export const knows = (key) => key in words;

const format = (options) => new Intl.NumberFormat(region, options);

export const number = (value, digits = 0) => format({ maximumFractionDigits: digits }).format(value);
export const percent = (value, digits = 0) => format({ style: "percent", maximumFractionDigits: digits }).format(value);

export function bytes(value) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  const digits = step === 0 || value / 1000 ** step >= 100 ? 0 : 1;
  return format({ style: "unit", unit: units[step], unitDisplay: step ? "short" : "long", maximumFractionDigits: digits })
    .format(value / 1000 ** step);
}

const DAY = { dateStyle: "medium" };
export const day = (iso) => new Intl.DateTimeFormat(region, DAY).format(new Date(iso));
export const moment = (iso) => new Intl.DateTimeFormat(region, { ...DAY, timeStyle: "short" }).format(new Date(iso));

const STEPS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** A time relative to now, such as "3 days ago". */
export function ago(iso, now = Date.now()) {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const relative = new Intl.RelativeTimeFormat(region, { numeric: "auto" });
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(unit === "second" ? 0 : Math.round(seconds / length), unit);
}

/** A duration as text: "3 min", "1 h 20 min". */
export function duration(seconds) {
  const unit = (value, name) => format({ style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: 0 }).format(value);
  if (seconds < 60) return unit(Math.max(1, Math.round(seconds)), "second");
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return unit(minutes, "minute");
  return [unit(Math.floor(minutes / 60), "hour"), minutes % 60 ? unit(minutes % 60, "minute") : ""].join(" ").trim();
}
