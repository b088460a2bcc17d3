// A quote as one reads it: the rows of a table as their cells, without what Markdown is written with.

export function asRead(quote) {
  return quote
    .split("\n")
    .filter((line) => !/^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*$/.test(line))
    .map((line) => (/^\s*\|/.test(line) ? line.split("|").map((cell) => cell.trim()).filter(Boolean).join(" · ") : line))
    .map((line) => line.replace(/^\s*(?:#{1,6}|[*+-])\s+/, "").replace(/\*\*([^*]+)\*\*/g, "$1"))
    .join("\n")
    .trim();
}
