// The stored flows, and the dialog for a new one.
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { moment, t } from "../common/words.js";
import { go } from "../shell/router.js";
import { Editor } from "./editor.js";

export const pathOf = (name) => `/flows/${encodeURIComponent(name)}`;

export function Listing() {
  const [making, setMaking] = useState(false);
  const loaded = useLoad(async () => (await get("/flows")).items);
  const made = html`<button class="button primary" onClick=${() => setMaking(true)}><${Icon} name="plus" />${t("flows.new")}</button>`;
  return html`<div class="room">
    <header><h1 class="grow">${t("view.flows")}</h1>${loaded.value?.length > 0 && made}</header>
    <${Loaded} from=${loaded}>${(flows) => (flows.length ? html`<${Table} flows=${flows} />` : html`
      <${Empty} icon="flows" title=${t("flows.none")}><p>${t("flows.none.why")}</p>${made}</${Empty}>`)}</${Loaded}>
    ${making && html`<${Editor} close=${() => setMaking(false)} saved=${(flow) => go(pathOf(flow.name))} />`}
  </div>`;
}

function Table({ flows }) {
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("view.flows")}><table>
    <thead><tr><th>${t("flows.name")}</th><th class="number">${t("flows.version")}</th><th class="number">${t("flows.nodes")}</th><th>${t("flows.stored")}</th></tr></thead>
    <tbody>${flows.map((one) => html`<tr key=${one.name}>
      <td><a href=${pathOf(one.name)}>${one.name}</a></td><td class="number">${one.version}</td><td class="number">${one.nodes}</td><td>${moment(one.created_at)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}
