// Remote sources: their state and last error, synchronising now, adding and removing.
import { useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { get, post, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { moment, t } from "../common/words.js";
import { Editor } from "./editor.js";

export default function Sources() {
  const [dialog, setDialog] = useState(null);
  const loaded = useLoad(async () => (await get("/sources")).items);
  const add = html`<button class="button primary" onClick=${() => setDialog("new")}><${Icon} name="plus" />${t("sources.new")}</button>`;
  return html`<div class="room">
    <header><h1 class="grow">${t("view.sources")}</h1>${loaded.value?.length > 0 && add}</header>
    <${Loaded} from=${loaded}>${(sources) => (sources.length ? html`<${Table} sources=${sources} reload=${loaded.reload} ask=${setDialog} />` : html`
      <${Empty} icon="sources" title=${t("sources.none")}><p>${t("sources.none.why")}</p>${add}</${Empty}>`)}</${Loaded}>
    ${dialog === "new" && html`<${Editor} close=${() => setDialog(null)} saved=${loaded.reload} />`}
    ${dialog?.id && html`<${Confirm} title=${t("sources.remove")} label=${t("sources.remove")} close=${() => setDialog(null)}
      onConfirm=${async () => (await remove(`/sources/${dialog.id}`), setDialog(null), loaded.reload())}><p>${t("sources.remove.why", { name: dialog.name })}</p></${Confirm}>`}
  </div>`;
}

function Table({ sources, reload, ask }) {
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("view.sources")}><table>
    <thead><tr><th>${t("sources.name")}</th><th>${t("sources.kind")}</th><th>${t("sources.state")}</th><th class="number">${t("sources.documents")}</th><th>${t("sources.last")}</th><th><span class="hidden">${t("sources.sync")}</span></th></tr></thead>
    <tbody>${sources.map((one) => html`<${Row} key=${one.id} source=${one} reload=${reload} ask=${ask} />`)}</tbody>
  </table></div>`;
}

function Row({ source, reload, ask }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const sync = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await post(`/sources/${source.id}/sync`, {});
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
    reload();
  };
  return html`<tr>
    <td><strong>${source.name}</strong><br /><small class="muted">${source.url}</small></td>
    <td>${t(`sources.kind.${source.kind}`)}</td>
    <td><span class="badge">${t(`sources.state.${busy ? "running" : source.state}`)}</span>
      ${problem ? html`<${Trouble} problem=${problem} />` : source.error && html`<p class="muted">${source.error}</p>`}</td>
    <td class="number">${source.documents}</td>
    <td>${source.finished_at ? moment(source.finished_at) : t("sources.never")}</td>
    <td><button class="button" disabled=${busy} onClick=${sync}>${t("sources.sync")}</button>
      <button class="icon-button" aria-label=${t("sources.remove")} data-hint=${t("sources.remove")} onClick=${() => ask(source)}><${Icon} name="trash" /></button></td>
  </tr>`;
}
