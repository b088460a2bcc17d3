// The location of a citation or source: document, version and span.
import { headings } from "../common/quotes.js";
import { t } from "../common/words.js";

/** The location of a citation. */
export function placeOfCitation(answer, citation) {
  const source = answer.sources.find((one) => one.number === citation.source);
  if (!source || citation.quote_start_char === null) return source ? placeOfSource(source) : null;
  return {
    ...placeOfSource(source),
    key: `${source.chunk_id}:${citation.quote_start_char}`,
    start: citation.quote_start_char,
    end: citation.quote_end_char,
    page: citation.page,
    where: citation.place ?? source.place,
    quote: citation.quote,
    lines: [citation.quote_start_line, citation.quote_end_line],
  };
}

/** The location of a passage. */
export function placeOfSource(source) {
  return {
    key: source.chunk_id,
    documentId: source.document_id,
    version: source.version,
    title: source.title,
    name: source.document_name,
    heading: headings(source),
    start: source.start_char,
    end: source.end_char,
    page: source.page,
    where: source.place,
    quote: source.snippet,
    lines: [source.start_line, source.end_line],
    urls: source.urls,
  };
}

/** The address of a source's document at a span of its text, for links outside of the page. */
export function addressOfSpan(source, start, end) {
  const query = new URLSearchParams({ version: source.version, start, end });
  return `${location.origin}/documents/${encodeURIComponent(source.document_id)}?${query}`;
}

/** Where a source is, in words: its place in the file, or its lines. */
export const whereIs = (source) => source.place ?? t("ask.lines", { from: source.start_line, to: source.end_line });

/** The location of one side of a conflict. */
export function placeOfStatement(statement) {
  return {
    key: `${statement.document_id}:${statement.start_char}`,
    documentId: statement.document_id,
    version: statement.version,
    title: statement.title,
    name: statement.title,
    heading: [],
    start: statement.start_char,
    end: statement.end_char,
    page: null,
    where: null,
    quote: statement.quote,
    lines: [null, null],
    urls: [],
  };
}
