// The list of keyboard shortcuts.
import { Dialog } from "../parts/dialog.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { may, session } from "./session.js";
import { VIEWS } from "./views.js";

export function Help({ close }) {
  const role = session.person?.role;
  const rooms = VIEWS.filter((view) => view.key && role && may(role, view.role));
  const keys = [
    ["/", t("help.ask")],
    ...rooms.map((view) => [`g ${view.key}`, t(`view.${view.name}`)]),
    ["?", t("help.title")],
    ["Esc", t("help.close")],
  ];
  return html`<${Dialog} title=${t("help.title")} close=${close}>
    <dl class="keys">
      ${keys.map(([key, what]) => html`<div key=${key}><dt>${key.split(" ").map((one) => html`<kbd key=${one}>${one}</kbd>`)}</dt><dd>${what}</dd></div>`)}
    </dl>
  </${Dialog}>`;
}
