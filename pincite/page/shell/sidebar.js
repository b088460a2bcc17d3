// The side bar: views, content of the current view, and the user menu.
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { html } from "../common/html.js";
import { state } from "../common/state.js";
import { t } from "../common/words.js";
import { LookMenu } from "./look.js";
import { go } from "./router.js";
import { may, session } from "./session.js";
import { VIEWS } from "./views.js";

/** The content of the current view in the side bar: a component, or null. */
export const aside = state(null);

export function SideBar({ view, open, close, help }) {
  const person = session.use();
  const extra = aside.use();
  const rooms = VIEWS.filter((one) => one.menu && person && may(person.role, one.role));
  return html`
    ${open && html`<div class="veil" onClick=${close}></div>`}
    <nav class=${`side-bar ${open ? "open" : ""}`} aria-label=${t("frame.rooms")}>
      <a class="brand" href="/ask"><${Icon} name="mark" />pincite</a>
      <ul class="rooms">
        ${rooms.map((one) => html`<li key=${one.name}>
          <a href=${`/${one.name}`} aria-current=${one === view ? "page" : null}><${Icon} name=${one.icon} />${t(`view.${one.name}`)}</a>
        </li>`)}
      </ul>
      <div class="aside">${extra && html`<${extra} />`}</div>
      <footer>
        <${LookMenu} />
        <button class="icon-button" aria-label=${t("help.title")} data-hint=${t("help.title")} onClick=${help}><${Icon} name="help" /></button>
        ${person && html`<${Person} person=${person} />`}
      </footer>
    </nav>`;
}

function Person({ person }) {
  const leave = async () => {
    await session.logOut();
    go("/login");
  };
  return html`<${Menu} label=${person.name} icon="person" text=${html`<span class="clip">${person.name}</span>`} up items=${[
      { label: t("view.account"), icon: "person", onClick: () => go("/account") },
      { label: t("frame.logout"), icon: "leave", onClick: leave },
    ]} />`;
}
