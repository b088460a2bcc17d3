// The menu that asks a question again with another level, mode or model.
import { useState } from "preact/hooks";
import { Menu } from "../parts/menu.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { may, session } from "../shell/session.js";
import { LEVELS } from "./scope.js";

const MAX_MODELS = 12;

export function AgainMenu({ again }) {
  const [models, setModels] = useState([]);
  const look = () => {
    if (models.length || !may(session.person?.role, "administrator")) return; // only administrators may list models
    get("/providers/models", {}, { quiet: true }).then(({ items }) => setModels(items.slice(0, MAX_MODELS)), () => {});
  };
  const items = [
    ...LEVELS.map((level) => ({ label: t("ask.again.level", { level: t(`scope.level.${level}`) }), onClick: () => again({ intelligence_level: level }) })),
    null,
    { label: t("ask.again.agent"), onClick: () => again({ mode: "agent" }) },
    ...models.map(({ name }) => ({ label: t("ask.again.model", { model: name }), onClick: () => again({ model: name }) })),
  ];
  return html`<${Menu} label=${t("ask.again.with")} icon="more" small items=${items} onOpen=${look} />`;
}
