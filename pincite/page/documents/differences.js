// The differences between two versions, side by side or in one column.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { kept } from "../common/kept.js";
import { t } from "../common/words.js";

const MAX_LINES = 4000;

export function Differences({ id, pair }) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  const [beside, setBeside] = useState(() => kept.get("diff.beside", matchMedia("(min-width: 1000px)").matches));
  useEffect(() => {
    get(`/documents/${id}/diff`, pair).then(setFound, setProblem);
  }, []);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  if (!found) return html`<div aria-busy="true"><div class="skeleton"></div><div class="skeleton"></div></div>`;
  const set = (value) => {
    setBeside(value);
    kept.set("diff.beside", value);
  };
  const about = Object.entries(found.metadata);
  return html`<div class="differences">
    <div class="bar">
      <p class="grow" role="status">${found.hunks.length ? t("diff.counts", { added: found.added, removed: found.removed }) : t("diff.none")}</p>
      <div class="switch" role="group" aria-label=${t("diff.layout")}>
        <button class="button small" aria-pressed=${beside} onClick=${() => set(true)}>${t("diff.beside")}</button>
        <button class="button small" aria-pressed=${!beside} onClick=${() => set(false)}>${t("diff.above")}</button>
      </div>
    </div>
    ${about.length > 0 && html`<dl class="known">${about.map(([name, { from, to }]) => html`<div key=${name}><dt>${name}</dt><dd><del>${shown(from)}</del> <ins>${shown(to)}</ins></dd></div>`)}</dl>`}
    ${limited(found.hunks).map((hunk, place) => html`<${Hunk} key=${place} hunk=${hunk} beside=${beside} />`)}
    ${found.hunks.length > limited(found.hunks).length && html`<p class="notice"><${Icon} name="info" />${t("diff.cut")}</p>`}
  </div>`;
}

const shown = (value) => (value === null ? "–" : Array.isArray(value) ? value.join(", ") : String(value));

/** The first hunks, up to the maximum number of lines. */
function limited(hunks) {
  let lines = 0;
  return hunks.filter((hunk) => (lines += hunk.lines.length) <= MAX_LINES || lines === hunk.lines.length);
}

const SIGNS = { same: " ", removed: "−", added: "+" };

function Hunk({ hunk, beside }) {
  const lines = beside ? pairs(hunk.lines) : hunk.lines.map((line) => [line]);
  const cell = (line, side) => line
    ? html`<td class="line-number">${side === "to" ? line.to_line : line.from_line}</td><td class=${`line ${line.kind}`}><span class="sign">${SIGNS[line.kind]}<span class="hidden-text">${t(`diff.${line.kind}`)}</span></span>${line.text}</td>`
    : html`<td class="line-number"></td><td class="line none"></td>`;
  return html`<div class="table hunk" tabindex="0" role="region" aria-label=${t("diff.lines", { from: hunk.from_line, to: hunk.to_line })}><table class=${beside ? "beside" : "above"}>
    <caption class="small muted">${t("diff.lines", { from: hunk.from_line, to: hunk.to_line })}</caption>
    <tbody>${lines.map((row, place) => html`<tr key=${place}>${beside ? [cell(row[0], "from"), cell(row[1], "to")]
      : html`<td class="line-number">${row[0].from_line ?? ""}</td>${cell(row[0], "to")}`}</tr>`)}</tbody>
  </table></div>`;
}

/** Lines in two columns: removed lines beside the added ones. */
function pairs(lines) {
  const rows = [];
  let removed = [];
  let added = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) rows.push([removed[at], added[at]]);
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      rows.push([line, line]);
    }
  }
  flush();
  return rows;
}
