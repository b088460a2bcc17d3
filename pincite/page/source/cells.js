// A sheet as a grid with its column letters and row numbers; the cited rows are highlighted.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";

const SHOWN_ROWS = 200;
const REF = /^([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?$/;

export function CellsView({ place }) {
  const [page, setPage] = useState(null);
  const [around, setAround] = useState(SHOWN_ROWS);
  const box = useRef();
  const loaded = useLoad(() => sheetOf(place, page), [place.documentId, place.version, place.key, page]);
  useEffect(() => box.current?.querySelector("tr.marked")?.scrollIntoView({ block: "center" }), [loaded.value, place.key]);
  if (loaded.problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${loaded.problem.words}</p>`;
  if (!loaded.value) return html`<div class="source-body" aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div></div>`;
  const { sheet, rows, letters } = loaded.value;
  const marked = rows.findIndex((row) => row.marked);
  const first = Math.max(0, marked - around / 2);
  const shown = rows.slice(first, first + around);
  return html`<div class="source-body" ref=${box}>
    ${sheet.of > 1 && html`<div class="pager">
      <button class="icon-button" aria-label=${t("source.sheet.before")} disabled=${sheet.page <= 1} onClick=${() => setPage(sheet.page - 1)}><${Icon} name="back" /></button>
      <span aria-live="polite">${t("source.sheet", { name: sheet.name, number: sheet.page, of: sheet.of })}</span>
      <button class="icon-button" aria-label=${t("source.sheet.after")} disabled=${sheet.page >= sheet.of} onClick=${() => setPage(sheet.page + 1)}><${Icon} name="chevron" /></button>
    </div>`}
    <div class="table cells" tabindex="0" role="region" aria-label=${t("source.view.cells")}><table>
      <thead><tr><td></td>${letters.map((letter) => html`<th key=${letter} scope="col">${letter}</th>`)}</tr></thead>
      <tbody>${shown.map((row) => html`<tr key=${row.number} class=${row.marked ? "marked" : ""}><th scope="row">${row.number}</th>
        ${letters.map((letter) => html`<td key=${letter}>${row.cells.get(letter)}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${rows.length > shown.length && html`<button class="button small" onClick=${() => setAround(around * 4)}>${t("source.later")}</button>`}
  </div>`;
}

/** The sheet of a place, or a chosen one: its rows with their cells by column letter. */
async function sheetOf({ documentId, version, start, end }, chosen) {
  const path = `/documents/${encodeURIComponent(documentId)}`;
  const number = chosen ?? (end > start ? (await get(`${path}/places`, { start, end, version })).places[0]?.page : null) ?? 1;
  const sheet = await get(`${path}/pages/${number}`, { version });
  const rows = new Map();
  for (const { ref, text, start: from, end: to } of sheet.words) {
    const [, left, top] = REF.exec(ref ?? "") ?? [];
    if (!left) continue;
    const row = rows.get(top) ?? { number: Number(top), cells: new Map(), marked: false };
    cellsOf(text).forEach((cell, place) => cell && row.cells.set(letterOf(numberOf(left) + place), cell));
    row.marked ||= end > start && from < end && to > start;
    rows.set(top, row);
  }
  const sorted = [...rows.values()].sort((a, b) => a.number - b.number);
  const last = Math.max(1, ...sorted.flatMap((row) => [...row.cells.keys()].map(numberOf)));
  return { sheet, rows: sorted, letters: Array.from({ length: last }, (_, place) => letterOf(place + 1)) };
}

/** The cells of a row of a Markdown table, or one cell. */
function cellsOf(text) {
  if (!text.trim().startsWith("|")) return [text.trim()];
  return text.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\(.)/g, "$1").replaceAll("<br>", "\n"));
}

const numberOf = (letters) => [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
const letterOf = (number) => (number > 26 ? letterOf(Math.floor((number - 1) / 26)) : "") + String.fromCharCode(65 + ((number - 1) % 26));
