// Downloads: a conversation as Markdown, and an answer with its evidence as one HTML file without external parts.
import { get } from "../common/api.js";
import { headings, readableQuote } from "../common/quotes.js";
import { told } from "../common/told.js";
import { language, moment, percent, t } from "../common/words.js";
import { whole } from "./answer.js";
import { renumbered } from "./numbers.js";
import { addressOfSpan, whereIs } from "./places.js";
import { asMarkdown, citedSources } from "./references.js";

const STYLE = `
  :root { color-scheme: light dark; }
  body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1.2rem; font: 1rem/1.6 system-ui, sans-serif; }
  h1 { font-size: 1.5rem; line-height: 1.25; }
  h2 { font-size: 1.1rem; margin-top: 2rem; }
  table { border-collapse: collapse; } th, td { border: 1px solid #8886; padding: 0.3rem 0.6rem; text-align: left; }
  blockquote { margin: 0.4rem 0; padding: 0.3rem 0.9rem; border-left: 3px solid #6b8fd6; background: #8881; white-space: pre-wrap; }
  .cite { padding: 0 0.35em; border-radius: 0.4em; background: #6b8fd633; text-decoration: none; font-size: 0.8em; font-weight: 600; }
  .unsupported { text-decoration: underline wavy #b36b00; }
  .muted { opacity: 0.75; font-size: 0.9rem; }
  li:target { outline: 2px solid #6b8fd6; outline-offset: 6px; border-radius: 4px; }
  :is(li, blockquote) { break-inside: avoid; }
`;

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A file name made from a text. */
const fileName = (text, ending) => `${text.replace(/[^\p{L}\p{N}]+/gu, " ").trim().slice(0, 60).trim() || "pincite"}.${ending}`;

/** Download a stored conversation as Markdown. */
export async function downloadConversation(id) {
  const session = await get(`/sessions/${encodeURIComponent(id)}`);
  const turns = session.turns.map((turn) => ({ ...turn, answer: turn.answer && renumbered(turn.answer) }));
  save(fileName(session.title, "md"), "text/markdown", asMarkdown(session.title || t("history.untitled"), turns));
}

/** Download an answer with the quotes of its sources as one HTML file. */
export function downloadAnswer(question, answer) {
  save(fileName(question, "html"), "text/html", asHtml(question, answer));
}

export function asHtml(question, answer) {
  const page = document.implementation.createHTMLDocument(question);
  page.documentElement.lang = language;
  const charset = page.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  page.head.prepend(charset);
  const made = element("p", t("export.made", { date: moment(new Date().toISOString()) }), "muted");
  const main = element("main");
  main.append(element("h1", question), whole(answer, linkTo), element("p", trustOf(answer), "muted"), ...evidence(answer), made);
  page.body.append(main);
  const text = page.documentElement.outerHTML.replace("</head>", `<style>${STYLE}</style></head>`); // as text: the policy of this page forbids it as an element
  return `<!doctype html>\n${text}\n`;
}

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** A citation as a link to its source below. */
function linkTo(_answer, citation) {
  const link = element("a", citation.source ?? "?", "cite");
  link.setAttribute("href", `#source-${citation.source ?? ""}`);
  return link;
}

const trustOf = ({ confidence }) => `${t(`ask.confidence.${confidence.level}`)} ${percent(confidence.score)}: ${told(confidence.reason)}`;

function evidence(answer) {
  const sources = citedSources(answer);
  if (!sources.length) return [];
  const list = element("ol");
  list.append(...sources.map((source) => entry(answer, source)));
  return [element("h2", t("ask.sources")), list];
}

/** One source: its name with a link, its place, and what is quoted from it. */
function entry(answer, source) {
  const item = element("li");
  item.id = `source-${source.number}`;
  item.setAttribute("value", source.number);
  const link = element("a", source.title || source.document_name);
  link.setAttribute("href", addressOfSpan(source, source.start_char, source.end_char));
  const place = [source.document_name, source.folder, ...headings(source).slice(-1), whereIs(source)].filter(Boolean).join(" · ");
  const quotes = new Set(answer.citations.filter((one) => one.source === source.number && one.quote).map((one) => readableQuote(one.quote)));
  item.append(link, element("p", place, "muted"), ...[...(quotes.size ? quotes : [readableQuote(source.snippet)])].map((quote) => element("blockquote", quote)));
  return item;
}
