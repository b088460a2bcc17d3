// Format and parse values of settings: `rag.alpha=0.3 rag.fusion=rrf`, lists by lines, tables as JSON.
import { number, t } from "./words.js";

/** Format a value in one line. */
export function formatValue(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return t(value ? "value.yes" : "value.no");
  if (typeof value === "number") return number(value, 6);
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** Format a value for a form field. */
export function toFieldText(value, type) {
  if (value === null || value === undefined) return "";
  if (type === "list") return value.join("\n");
  return typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);
}

/** Parse the text of a field; an invalid number stays text, so that the service reports it. */
export function parseFieldText(text, type) {
  if (type === "boolean") return text === "true";
  if (type === "list") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (type === "table") return parsed(text.trim() || "{}");
  if ((type === "integer" || type === "number") && text.trim() !== "") return parsed(text.trim());
  return text;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Parse `a.b=1, c.d=x` to `{key: value}`, with numbers and booleans. */
export function pairs(text) {
  const found = {};
  for (const part of text.split(/[\n,;]+|\s+(?=[\w.]+=)/).map((one) => one.trim()).filter(Boolean)) {
    const at = part.indexOf("=");
    if (at < 1) throw new Error(t("value.pair", { part }));
    const value = parsed(part.slice(at + 1).trim());
    found[part.slice(0, at).trim()] = typeof value === "object" ? String(part.slice(at + 1).trim()) : value;
  }
  return found;
}
