// The service counts in Unicode code points, scripts in UTF-16 units: this is the way from one to the other.

/** Turns offsets in code points into places in the text's own units; for many offsets of one text. */
export function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const starts = [];
  for (let unit = 0; unit < text.length; unit += text.codePointAt(unit) > 0xffff ? 2 : 1) starts.push(unit);
  return (offset) => starts[offset] ?? text.length;
}
