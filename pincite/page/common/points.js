// Convert offsets in Unicode code points, which the service uses, to UTF-16 units of JavaScript.

/** Return a function that converts code point offsets of a text to UTF-16 offsets. */
export function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const starts = [];
  for (let unit = 0; unit < text.length; unit += text.codePointAt(unit) > 0xffff ? 2 : 1) starts.push(unit);
  return (offset) => starts[offset] ?? text.length;
}
