// Settings of the library, users and keys; for administrators.
import { Tabs } from "../parts/tabs.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { Audit } from "./audit.js";
import { Health } from "./health.js";
import { History } from "./history.js";
import { Keys } from "./keys.js";
import { People } from "./people.js";
import { Profiles } from "./profiles.js";
import { Providers } from "./providers.js";
import { Tree } from "./tree.js";

const PARTS = {
  values: Tree, history: History, profiles: Profiles, providers: Providers, people: People, keys: Keys, audit: Audit, health: Health,
};

export default function Settings({ rest, query }) {
  const chosen = rest[0] in PARTS ? rest[0] : "values";
  const tabs = Object.keys(PARTS).map((name) => ({ name, label: t(`settings.tab.${name}`) }));
  return html`<div class="room">
    <header><h1>${t("view.settings")}</h1></header>
    <${Tabs} label=${t("view.settings")} tabs=${tabs} chosen=${chosen} onChoose=${(name) => go(`/settings/${name}`)}>
      <${PARTS[chosen]} key=${chosen} query=${query} />
    </${Tabs}>
  </div>`;
}
