// Split the text of a document at passage boundaries, so that each piece knows its passages.
import { unitsOf } from "../common/points.js";

/**
 * `[{text, section, passages, opens, begins}]` in text order; `passages` are the passages of a piece (two where they
 * overlap), `opens` the passages and `begins` the section that start with it.
 */
export function pieces(content, chunks) {
  const unit = unitsOf(content);
  const spans = chunks.filter((one) => one.level > 0 && one.end_char > one.start_char)
    .map((one) => ({ ...one, from: unit(one.start_char), to: unit(one.end_char) }));
  const cuts = [...new Set([0, content.length, ...spans.flatMap((one) => [one.from, one.to])])].sort((a, b) => a - b);
  const starts = [...spans].sort((a, b) => a.from - b.from || a.ordinal - b.ordinal);
  const made = [];
  let open = [];
  let next = 0;
  for (let at = 0; at < cuts.length - 1; at += 1) {
    const [from, to] = [cuts[at], cuts[at + 1]];
    open = open.filter((one) => one.to > from);
    const opens = [];
    for (; next < starts.length && starts[next].from <= from; next += 1) opens.push(starts[next]);
    open.push(...opens);
    const text = content.slice(from, to);
    if (!text.trim() && !opens.length) continue;
    const within = (level) => (one) => one.level === level;
    made.push({
      key: from, text: text.replace(/^\n+|\n+$/g, ""), section: open.findLast(within(1)) ?? null, begins: opens.find(within(1)) ?? null,
      passages: open.filter(within(2)), opens: opens.filter(within(2)),
    });
  }
  return made;
}
