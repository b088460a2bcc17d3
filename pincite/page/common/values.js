// Values of settings as people write and read them: `rag.alpha=0.3 rag.fusion=rrf`, lists by lines, tables as JSON.
import { number, t } from "./words.js";

/** A value in one line. */
export function told(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return t(value ? "value.yes" : "value.no");
  if (typeof value === "number") return number(value, 6);
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** What stands in a field for a value. */
export function written(value, type) {
  if (value === null || value === undefined) return "";
  if (type === "list") return value.join("\n");
  return typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);
}

/** What a field's text means; a text that is no number stays as it is, for the service to say so. */
export function read(text, type) {
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

/** `a.b=1, c.d=x` as `{key: value}`; numbers, true and false are what they look like. */
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
