// The frame of every view: side bar, notices, the view itself, and its error page.
import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Toasts } from "../parts/toast.js";
import { connection } from "../common/connection.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { DropAnywhere } from "./drops.js";
import { Help } from "./help.js";
import { useKey } from "./keys.js";
import { go, usePlace, viewOf } from "./router.js";
import { may, session } from "./session.js";
import { SideBar } from "./sidebar.js";
import { VIEWS } from "./views.js";

export function Frame() {
  const { path, query } = usePlace();
  const person = session.use();
  const [menuOpen, openMenu] = useState(false);
  const [helpOpen, openHelp] = useState(false);
  const found = viewOf(path);
  const view = found?.view;
  const closed = view && !view.open && !person;
  useEffect(() => {
    if (closed && connection.reachable) go(`/login?next=${encodeURIComponent(path + location.search + location.hash)}`, { replace: true });
  }, [closed, path]);
  useEffect(() => openMenu(false), [path]);
  useKey("?", () => openHelp(true));
  useKey("/", person ? askSomething : null);
  useKey("Escape", menuOpen ? () => openMenu(false) : null);
  return html`
    <${GoKeys} person=${person} />
    <a class="skip" href="#main">${t("frame.skip")}</a>
    <div class=${`frame ${view?.plain ? "plain" : ""}`}>
      ${view?.plain ? null : html`
        <${SideBar} view=${view} open=${menuOpen} close=${() => openMenu(false)} help=${() => openHelp(true)} />
        <header class="top-bar">
          <button class="icon-button" aria-label=${t("frame.menu")} aria-expanded=${menuOpen} onClick=${() => openMenu(true)}>
            <${Icon} name="menu" />
          </button>
          <a class="brand" href="/ask">pincite</a>
        </header>`}
      <main id="main" tabindex="-1">
        <${Away} />
        ${closed ? null : view ? html`<${Room} key=${view.name} view=${view} rest=${found.rest} query=${query} person=${person} />` : html`<${Lost} />`}
      </main>
    </div>
    <${DropAnywhere} />
    <${Toasts} />
    ${helpOpen && html`<${Help} close=${() => openHelp(false)} />`}`;
}

function askSomething() {
  if (!viewOf(location.pathname) || viewOf(location.pathname).view.name !== "ask") go("/ask");
  requestAnimationFrame(() => document.querySelector("[data-ask]")?.focus());
}

/** `g` and a letter open a view. */
function GoKeys({ person }) {
  const reachable = VIEWS.filter((view) => view.key && person && may(person.role, view.role));
  return reachable.map((view) => html`<${GoKey} key=${view.name} view=${view} />`);
}

function GoKey({ view }) {
  useKey(`g ${view.key}`, () => go(`/${view.name}`));
  return null;
}

/** One view, loaded when first opened. */
function Room({ view, rest, query, person }) {
  const [room, setRoom] = useState(null);
  const [failed, setFailed] = useState(false);
  const heading = useRef();
  useEffect(() => {
    document.title = `${t(`view.${view.name}`)} · pincite`;
    let left = false;
    view.load().then((module) => left || setRoom(() => module.default), () => left || setFailed(true));
    return () => (left = true);
  }, [view]);
  useEffect(() => heading.current?.focus(), []);
  if (view.role && person && !may(person.role, view.role))
    return html`<${Empty} heading="h1" icon="lock" title=${t("frame.closed")}>${t("frame.closed.why")}</${Empty}>`;
  if (failed)
    return html`<${Empty} heading="h1" icon="refresh" title=${t("frame.updated")} action=${{ label: t("frame.reload"), onClick: () => location.reload() }}>
      ${t("frame.updated.why")}</${Empty}>`;
  if (!room) return html`<div class="room loading" aria-busy="true"><div class="skeleton wide"></div><div class="skeleton"></div></div>`;
  return html`<${Guard}><${room} rest=${rest} query=${query} person=${person} /></${Guard}>`;
}

/** Shows the error of a failed view. */
class Guard extends Component {
  componentDidCatch(error) {
    console.error(error);
    this.setState({ error });
  }

  render({ children }, { error }) {
    if (!error) return children;
    const again = { label: t("frame.reload"), onClick: () => location.reload() };
    return html`<${Empty} heading="h1" icon="warning" title=${t("frame.broken")} action=${again}>${t("frame.broken.why")}</${Empty}>`;
  }
}

function Lost() {
  return html`<${Empty} heading="h1" icon="search" title=${t("frame.lost")} action=${{ label: t("frame.begin"), href: "/ask" }}>${t("frame.lost.why")}</${Empty}>`;
}

/** A notice while the server cannot be reached. */
function Away() {
  const reachable = connection.use();
  const was = useRef(true);
  const [back, setBack] = useState(false);
  useEffect(() => {
    if (reachable && !was.current) {
      setBack(true);
      if (!session.person) session.load();
      const timer = setTimeout(() => setBack(false), 4000);
      was.current = true;
      return () => clearTimeout(timer);
    }
    was.current = reachable;
    return undefined;
  }, [reachable]);
  return html`<div role="status" class="away">
    ${!reachable ? html`<p class="notice warn"><${Icon} name="offline" />${t("frame.away")}</p>` : null}
    ${reachable && back ? html`<p class="notice good"><${Icon} name="check" />${t("frame.back")}</p>` : null}
  </div>`;
}
