// The indexes: in use, being built, and standby.
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Progress } from "../parts/progress.js";
import { toast } from "../parts/toast.js";
import { get, post, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { moment, t } from "../common/words.js";

const BADGE_KINDS = { serving: "good", building: "accent", standby: "" };

export function Indexes({ stale }) {
  const loaded = useLoad(() => get("/index"));
  const act = (work, done) => work.then(() => (toast(done), loaded.reload()), toast);
  return html`<h2 class="spaced">${t("index.title")}</h2>
    <p class="muted">${t("index.about")}</p>
    <${Loaded} from=${loaded}>${({ items, building, wanting }) => html`
      <div class="bar">
        ${(stale > 0 || wanting) && html`<button class="button" onClick=${() => act(post("/documents/reindex", { stale: true }), t("index.begun"))}>
          <${Icon} name="refresh" />${t("index.renew", { count: stale })}</button>`}
        ${building && html`<button class="button primary"
          onClick=${() => act(post("/index/switch", {}), t("index.switched"))}>${t("index.switch")}</button>`}
        ${items.some((one) => one.state === "standby") && html`<button class="button"
          onClick=${() => act(post("/index/rollback"), t("index.rolled"))}><${Icon} name="undo" />${t("index.rollback")}</button>`}
        ${items.length > 1 && html`<button class="button quiet" onClick=${() => act(remove("/index"), t("index.discarded"))}>
          <${Icon} name="trash" />${t("index.discard")}</button>`}
      </div>
      ${building && html`<p>${t("index.building", { built: building.built, documents: building.documents })}</p>
        <${Progress} label=${t("index.state.building")} value=${building.documents ? building.built / building.documents : 0} />`}
      <ul class="cards">${items.map((one) => html`<li key=${one.id} class="card">
        <header class="bar"><span class="mono">${one.id}</span>
          <span class=${`badge ${BADGE_KINDS[one.state]}`}>${t(`index.state.${one.state}`)}</span></header>
        <dl class="facts">${Object.entries(one.settings ?? {}).map(([key, value]) => html`<div key=${key}><dt class="mono">${key}</dt>
          <dd>${formatValue(value)}</dd></div>`)}</dl>
        <p class="small muted">${moment(one.switched_at ?? one.created_at)}</p>
      </li>`)}</ul>`}</${Loaded}>`;
}
