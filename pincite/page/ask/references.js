// An answer as text with numbered references: plain to copy, or Markdown with links.
import { unitsOf } from "../common/points.js";
import { percent, t } from "../common/words.js";
import { addressOfSpan, whereIs } from "./places.js";

/** The answer's text with `mark(citation)` for each citation. */
function withMarks(answer, mark) {
  const unit = unitsOf(answer.answer);
  let [text, from] = ["", 0];
  for (const one of [...answer.citations].sort((a, b) => a.start - b.start)) {
    text += `${answer.answer.slice(from, unit(one.start))}${one.text ? "" : " "}${mark(one)}`;
    from = unit(one.end);
  }
  return (text + answer.answer.slice(from)).trim();
}

const quotesOf = (answer, source) => [...new Set(answer.citations.filter((one) => one.source === source.number && one.quote).map((one) => one.quote.trim()))];
export const citedSources = (answer) => answer.sources.filter((source) => source.cited && (source.title || source.document_name));
const named = (source) => [...new Set([source.title || source.document_name, source.document_name, source.folder, whereIs(source)].filter(Boolean))].join(", ");

/** The answer with `[1]` for each citation, followed by its sources with locations and quotes. */
export function withReferences(question, answer) {
  const lines = citedSources(answer).map((source) => {
    const quotes = quotesOf(answer, source).map((quote) => `“${quote}”`);
    return `[${source.number}] ${named(source)}${quotes.length ? `: ${quotes.join(" … ")}` : ""}`;
  });
  const text = withMarks(answer, (one) => `[${one.source ?? "?"}]`);
  return [question, "", text, ...(lines.length ? ["", `${t("ask.sources")}:`, ...lines] : []), ""].join("\n");
}

/** One question and its answer as Markdown: each citation links to the passage in its document. */
function turnAsMarkdown({ question, text, answer }) {
  if (!answer) return `## ${oneLine(question)}\n\n${text}\n\n*${t("ask.cut")}*\n`;
  const linkOf = (one) => {
    const source = answer.sources.find((each) => each.number === one.source);
    if (!source?.document_id) return `\\[${one.source ?? "?"}\\]`;
    return `[\\[${one.source}\\]](${addressOfSpan(source, one.quote_start_char ?? source.start_char, one.quote_end_char ?? source.end_char)})`;
  };
  const lines = citedSources(answer).map((source) => [
    `${source.number}. [${escaped(named(source))}](${addressOfSpan(source, source.start_char, source.end_char)})`,
    ...quotesOf(answer, source).map((quote) => `   > ${quote.split("\n").join("\n   > ")}\n`),
  ].join("\n"));
  const trust = `*${t(`ask.confidence.${answer.confidence.level}`)} ${percent(answer.confidence.score)}*`;
  return [`## ${oneLine(question)}`, "", withMarks(answer, linkOf), "", trust, ...(lines.length ? ["", `### ${t("ask.sources")}`, "", ...lines] : []), ""].join("\n");
}

const oneLine = (text) => escaped(text.split(/\s+/).join(" "));
const escaped = (text) => text.replace(/[\\[\]*_`<>#]/g, "\\$&");

/** A conversation as Markdown; `turns` are `{question, text, answer}`. */
export const asMarkdown = (title, turns) => [`# ${oneLine(title)}`, ...turns.map(turnAsMarkdown)].join("\n\n");
