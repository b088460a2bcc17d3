// Texts of the service in the user's language. The service says everything in English; other languages have templates.
import { language } from "./words.js";

const TEMPLATES = { de: () => import("../words/server.de.js") };
const DESCRIPTIONS = { de: () => import("../words/settings.de.js") };
let rules = [];

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Load the templates of the user's language; English needs none. */
export async function loadTold() {
  const found = TEMPLATES[language] ? (await TEMPLATES[language]()).default : [];
  const length = (text) => text.replaceAll("{}", "").length; // the template that says most is tried first
  const sorted = [...found].sort(([one], [two]) => length(two) - length(one));
  rules = sorted.map(([from, to]) => ({ pattern: new RegExp(`^${from.split("{}").map(escaped).join("(.+?)")}$`, "s"), to }));
}

/** The text in the user's language; what no template knows stays as it is. */
export function told(text) {
  if (!rules.length || !text) return text;
  for (const { pattern, to } of rules) {
    const found = pattern.exec(text);
    if (found) return to.replace(/\{(\d)\}/g, (_, place) => told(found[place]));
  }
  for (const mark of ["; ", ", "]) if (text.includes(mark)) return text.split(mark).map(told).join(mark);
  return text;
}

/** The descriptions of settings by their keys; empty in English, which the service has. */
export const settingDescriptions = async () => (DESCRIPTIONS[language] ? (await DESCRIPTIONS[language]()).default : {});
