// The history of settings changes, newest first; the last one can be undone.
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { moment, t } from "../common/words.js";
import { useNames } from "./names.js";

export function History() {
  const [pages, setPages] = useState([]);
  const loaded = useLoad(() => (setPages([]), get("/settings/history", { limit: 50 })));
  const name = useNames();
  const more = async (cursor) => setPages([...pages, await get("/settings/history", { limit: 50, cursor })]);
  const undo = () => post("/settings/undo").then(() => (toast(t("settings.undone")), loaded.reload()), toast);
  return html`<${Loaded} from=${loaded}>${(first) => {
    const all = [first, ...pages];
    const batches = [...Map.groupBy(all.flatMap((page) => page.items), (one) => one.batch).values()];
    const cursor = all.at(-1).next_cursor;
    if (!batches.length) return html`<${Empty} icon="clock" title=${t("history.none")}>${t("history.none.why")}</${Empty}>`;
    const canUndo = batches.some(([one]) => one.kind !== "undo" && !one.undone);
    return html`
      <div class="bar"><p class="grow muted">${t("history.about")}</p>
        <button class="button" disabled=${!canUndo} onClick=${undo}><${Icon} name="undo" />${t("settings.undo.last")}</button></div>
      <ol class="batches">${batches.map((batch) => html`<${Batch} key=${batch[0].batch} batch=${batch} name=${name} />`)}</ol>
      ${cursor && html`<button class="button" onClick=${() => more(cursor)}>${t("list.more")}</button>`}`;
  }}</${Loaded}>`;
}

function Batch({ batch, name }) {
  const [{ kind, profile, undone, undoes, person, changed_at: at }] = batch;
  return html`<li class=${`card ${undone ? "undone" : ""}`}>
    <header class="bar">
      <strong>${t(`history.kind.${kind}`, { profile: profile ?? "", undoes: undoes ?? 0 })}</strong>
      ${undone && html`<span class="badge">${t("history.undone")}</span>`}
      <span class="grow"></span>
      <span class="muted small">${name(person)} · <time datetime=${at}>${moment(at)}</time></span>
    </header>
    <${Changes} changes=${batch} nothing=${t("history.configured")} />
  </li>`;
}

/** A table of settings before and after a change; `nothing` is shown for an unset value. */
export function Changes({ changes, nothing = null }) {
  const shown = (value) => (value === null && nothing ? html`<span class="muted">${nothing}</span>` : formatValue(value));
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("changes.title")}><table>
    <thead><tr><th>${t("changes.key")}</th><th>${t("changes.before")}</th><th>${t("changes.after")}</th></tr></thead>
    <tbody>${changes.map(({ key, before, after }) => html`<tr key=${key}>
      <th scope="row" class="mono">${key}</th><td class="value">${shown(before)}</td><td class="value">${shown(after)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}
