// An answer as plain text with numbered references.
import { unitsOf } from "../common/points.js";
import { t } from "../common/words.js";

/** The answer with `[1]` for each citation, followed by its sources with locations and quotes. */
export function withReferences(question, answer) {
  const unit = unitsOf(answer.answer);
  let [text, from] = ["", 0];
  for (const one of [...answer.citations].sort((a, b) => a.start - b.start)) {
    text += `${answer.answer.slice(from, unit(one.start))}${one.text ? "" : " "}[${one.source ?? "?"}]`;
    from = unit(one.end);
  }
  text += answer.answer.slice(from);
  const cited = answer.sources.filter((source) => source.cited);
  const lines = cited.map((source) => {
    const quotes = answer.citations.filter((one) => one.source === source.number && one.quote).map((one) => `“${one.quote.trim()}”`);
    const where = [source.title || source.document_name, source.document_name, source.place, `v. ${source.version}`].filter(Boolean);
    return `[${source.number}] ${[...new Set(where)].join(", ")}${quotes.length ? `: ${[...new Set(quotes)].join(" … ")}` : ""}`;
  });
  return [question, "", text.trim(), ...(lines.length ? ["", `${t("ask.sources")}:`, ...lines] : []), ""].join("\n");
}
