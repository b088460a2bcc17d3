// A quote as readable text: table rows as cells, without Markdown syntax. The headings above a passage.

const RULE = /^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*$/;
const ROW = /^\s*\|/;
const ITEM = /^\s*(?:[*+-]|\d+[.)])\s+/;

export function readableQuote(quote) {
  const lines = quote.split("\n").filter((line) => !RULE.test(line));
  const read = lines.map((line) => {
    const text = ROW.test(line) ? line.split("|").map((cell) => cell.trim()).filter(Boolean).join(" · ") : line.trim();
    return { text: text.replace(/^#{1,6}\s+/, "").replace(/\*\*([^*]+)\*\*/g, "$1"), apart: ROW.test(line) || ITEM.test(line) || !text };
  });
  return read.reduce((made, { text, apart }, at) => made + (at === 0 ? "" : apart || read[at - 1].apart ? "\n" : " ") + text, "").trim();
}

/** The headings above a passage; a document without headings is one section called "Document", which is not shown. */
export const headings = (passage) => passage.heading_path.filter((part) => part !== "Document");
