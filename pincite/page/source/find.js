// Find words in a PDF: the pages that have them, and their boxes.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

/** The field above the page; `go(number, rects)` shows a page with the boxes of what was found on it. */
export function Find({ file, number, go }) {
  const [words, setWords] = useState("");
  const [told, setTold] = useState("");
  const find = async (event, step = 1) => {
    event.preventDefault();
    const wanted = words.trim().toLowerCase();
    if (!wanted) return clear();
    setTold("");
    for (let gone = told && told === wanted ? 1 : 0; gone <= file.numPages; gone += 1) {
      const at = ((number - 1 + step * gone) % file.numPages + file.numPages) % file.numPages + 1;
      const rects = boxesOf(await textOf(file, at), wanted);
      if (!rects.length) continue;
      go(at, rects);
      return setTold(wanted);
    }
    go(number, []);
    return setTold(null);
  };
  const clear = () => {
    setWords("");
    setTold("");
    go(number, []);
  };
  return html`<form class="pdf-find" role="search" onSubmit=${find}>
    <input type="search" value=${words} aria-label=${t("source.find")} placeholder=${t("source.find")} maxlength="200"
      onInput=${(event) => (setTold(""), event.target.value ? setWords(event.target.value) : clear())} />
    <button class="icon-button" aria-label=${t("source.find.next")} data-hint=${t("source.find.next")} disabled=${!words.trim()}><${Icon} name="search" /></button>
    <span class="small muted" role="status">${told === null ? t("source.find.none") : ""}</span>
  </form>`;
}

/** The pieces of text of a page with their boxes, from the upper left corner. */
async function textOf(file, number) {
  const page = await file.getPage(number);
  const view = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent();
  return items.filter((item) => item.str).map((item) => {
    const [x, y] = view.convertToViewportPoint(item.transform[4], item.transform[5]);
    return { text: item.str.toLowerCase(), x, width: item.width, top: y - item.height, bottom: y + item.height * 0.25, ends: item.hasEOL };
  });
}

/** The boxes of the wanted words; they may stretch over several pieces. */
function boxesOf(pieces, wanted) {
  let whole = "";
  const starts = pieces.map((piece) => {
    const start = whole.length;
    whole += piece.text + (piece.ends ? " " : "");
    return start;
  });
  const rects = [];
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + 1))
    pieces.forEach((piece, place) => {
      const from = Math.max(0, at - starts[place]);
      const to = Math.min(piece.text.length, at + wanted.length - starts[place]);
      if (from >= to) return;
      const each = piece.width / piece.text.length;
      rects.push([piece.x + each * from, piece.top, piece.x + each * to, piece.bottom]);
    });
  return rects;
}
