// The versions of a document, and the differences between two of them.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { bytes, moment, t } from "../common/words.js";
import { Differences } from "./differences.js";
import { fileOf } from "./row.js";

export function Versions({ document }) {
  const [versions, setVersions] = useState(null);
  const [pair, setPair] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    get(`/documents/${document.id}/versions`).then(({ items }) => {
      setVersions(items);
      if (items.length > 1) setPair({ from: items[1].id, to: items[0].id });
    }, setProblem);
  }, [document.id, document.versions]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`;
  if (!versions) return html`<div aria-busy="true"><div class="skeleton"></div></div>`;
  const name = (id) => t("versions.number", { number: versions.length - versions.findIndex((one) => one.id === id) });
  const choice = (side) => html`<label>${t(`versions.${side}`)}
    <select value=${pair[side]} onChange=${(event) => setPair({ ...pair, [side]: event.target.value })}>
      ${versions.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === pair[side]}>${name(one.id)}, ${moment(one.created_at)}</option>`)}
    </select></label>`;
  return html`
    <ol class="versions" reversed>${versions.map((one) => html`<li key=${one.id}>
      <strong>${name(one.id)}</strong>
      <span>${moment(one.created_at)}</span>
      <span class="muted small">${bytes(one.bytes)}</span>
      ${one.served && html`<span class="badge good">${t("versions.served")}</span>`}
      ${one.status === "error" && html`<span class="badge bad">${t("status.error")}</span>`}
      <a class="icon-button small" href=${fileOf(document.id, one.id)} download aria-label=${t("versions.download", { name: name(one.id) })}><${Icon} name="download" /></a>
    </li>`)}</ol>
    ${!pair && html`<p class="muted">${t("versions.only")}</p>`}
    ${pair && html`<div class="bar pair">${choice("from")}${choice("to")}</div>
      <${Differences} key=${`${pair.from} ${pair.to}`} id=${document.id} pair=${pair} />`}`;
}
