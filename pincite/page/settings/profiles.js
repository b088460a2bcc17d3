// Profiles: named sets of settings, with preview and apply.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";
import { Changes } from "./history.js";

export function Profiles() {
  const loaded = useLoad(() => get("/profiles"));
  const [shown, setShown] = useState(null);
  return html`<p class="muted">${t("profiles.about")}</p>
    <${Loaded} from=${loaded}>${({ items }) => html`<ul class="cards">
      ${items.map((profile) => html`<li key=${profile.name} class="card">
        <h2>${profile.name}</h2>
        <p>${profile.about}</p>
        <button class="button" onClick=${() => setShown(profile.name)}>${t("profiles.look")}<span
          class="hidden-text"> (${profile.name})</span></button>
      </li>`)}
    </ul>`}</${Loaded}>
    ${shown && html`<${Difference} name=${shown} close=${() => setShown(null)} />`}`;
}

/** The preview of a profile's changes. */
function Difference({ name, close }) {
  const loaded = useLoad(() => get(`/profiles/${encodeURIComponent(name)}`));
  const changes = Object.entries(loaded.value?.changes ?? {}).map(([key, pair]) => ({ key, ...pair }));
  const apply = async () => {
    try {
      const { changes: made, notes } = await post("/settings/apply", { profile: name });
      toast([t("profiles.applied", { name, count: made.length }), ...notes].join(" "));
      close();
    } catch (problem) {
      toast(problem);
    }
  };
  return html`<${Dialog} sheet title=${t("profiles.title", { name })} close=${close} footer=${html`
      <button class="button" onClick=${close}>${t("dialog.cancel")}</button>
      <button class="button primary" disabled=${!changes.length} onClick=${apply}>${t("profiles.apply")}</button>`}>
    <${Loaded} from=${loaded}>${({ about, notes }) => html`
      <p>${about}</p>
      ${notes.map((note) => html`<p key=${note} class="notice"><${Icon} name="info" />${note}</p>`)}
      ${changes.length ? html`<${Changes} changes=${changes} />` : html`<p class="notice good"><${Icon} name="check" />${t("profiles.same")}</p>`}`}
    </${Loaded}>
  </${Dialog}>`;
}
