// Delete a document or a folder, with confirmation and a receipt.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { remove } from "../common/api.js";
import { html } from "../common/html.js";
import { number, t } from "../common/words.js";

const COUNTED = ["versions", "chunks", "vectors", "postings", "facts", "summaries", "token_vectors", "cache_entries", "quotes"];

/** `what` is `{title, question, path, params}`; `done` is called after the deletion, before the receipt is closed. */
export function RemovalDialog({ what, close, done }) {
  const [receipts, setReceipts] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      const told = await remove(what.path, what.params);
      setReceipts(told.receipts ?? [told]);
      done();
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  if (receipts) return html`<${Dialog} title=${t("removal.receipt")} close=${close}
      footer=${html`<button class="button primary" onClick=${close}>${t("dialog.close")}</button>`}>
    <p><strong>${what.title}</strong></p><${Receipt} receipts=${receipts} /></${Dialog}>`;
  return html`<${Dialog} title=${t("removal.title")} close=${close} footer=${html`
      <button class="button" onClick=${close}>${t("dialog.cancel")}</button>
      <button class="button danger" disabled=${busy} onClick=${go}>${t("removal.do")}</button>`}>
    <p>${what.question}</p>
    <p class="muted">${t("removal.what")}</p>
    ${problem && html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words}</p>`}
  </${Dialog}>`;
}

/** The deleted items, summed over all documents. */
function Receipt({ receipts }) {
  const sum = (name) => receipts.reduce((all, one) => all + one[name], 0);
  const sure = receipts.every((one) => one.verified);
  return html`
    <p class=${`notice ${sure ? "good" : "warn"}`} role="status"><${Icon} name=${sure ? "check" : "warning"} />
      ${sure ? t("removal.verified", { count: receipts.length }) : t("removal.unverified")}</p>
    <dl class="figures">
      ${COUNTED.map((name) => html`<div key=${name}><dt>${t(`removal.${name}`)}</dt><dd>${number(sum(name))}</dd></div>`)}
      <div><dt>${t("removal.files")}</dt><dd>${number(receipts.filter((one) => one.file).length)}</dd></div>
    </dl>
    ${receipts.length === 1 && html`<p class="muted small">${t("removal.id")} <code>${receipts[0].document_id}</code></p>`}`;
}
