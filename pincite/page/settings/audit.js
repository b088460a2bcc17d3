// The audit log with filters, and its verification.
import { useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { formatValue } from "../common/values.js";
import { moment, number, t } from "../common/words.js";
import { useNames } from "./names.js";

const KINDS = [
  "setup", "login", "logout", "password", "key", "user", "group",
  "document", "folder", "answer", "settings", "index", "library", "content",
];
const BADGE_KINDS = { done: "good", failed: "warn", refused: "bad" };

export function Audit() {
  const [filter, setFilter] = useState({ event: "", person: "", since: "" });
  const [more, setMore] = useState([]);
  const params = { ...filter, since: filter.since && new Date(filter.since).toISOString(), limit: 50 };
  const loaded = useLoad(() => (setMore([]), get("/audit", params)), [filter.event, filter.person, filter.since]);
  const set = (name) => (event) => setFilter({ ...filter, [name]: event.target.value.trim() });
  const onwards = (cursor) => get("/audit", { ...params, cursor }).then((page) => setMore([...more, page]), toast);
  return html`
    <${Verify} />
    <div class="bar filters" role="search">
      <label>${t("audit.event")} <input list="audit-events" value=${filter.event} onChange=${set("event")} placeholder=${t("audit.all")} /></label>
      <datalist id="audit-events">${KINDS.map((kind) => html`<option key=${kind} value=${kind} />`)}</datalist>
      <label>${t("audit.person")} <input value=${filter.person} onChange=${set("person")} placeholder=${t("audit.all")} /></label>
      <label>${t("audit.since")} <input type="datetime-local" value=${filter.since} onChange=${set("since")} /></label>
    </div>
    <${Loaded} from=${loaded}>${(first) => {
      const pages = [first, ...more];
      const cursor = pages.at(-1).next_cursor;
      return html`${loaded.problem && html`<${Trouble} problem=${loaded.problem} />`}
        <${Events} events=${pages.flatMap((page) => page.items)} />
        ${cursor && html`<button class="button" onClick=${() => onwards(cursor)}>${t("list.more")}</button>`}`;
    }}</${Loaded}>`;
}

function Events({ events }) {
  const name = useNames();
  if (!events.length) return html`<p class="muted">${t("audit.none")}</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("settings.tab.audit")}><table class="events">
    <thead><tr><th class="number">${t("audit.number")}</th><th>${t("audit.at")}</th><th>${t("audit.event")}</th><th>${t("audit.by")}</th>
      <th>${t("audit.subject")}</th><th>${t("audit.details")}</th></tr></thead>
    <tbody>${events.map((event) => html`<tr key=${event.number}>
      <td class="number">${number(event.number)}</td>
      <td class="nowrap"><time datetime=${event.at}>${moment(event.at)}</time></td>
      <td><span class="mono">${event.event}</span>${" "}
        ${event.outcome !== "done" && html`<span class=${`badge ${BADGE_KINDS[event.outcome]}`}>${t(`audit.outcome.${event.outcome}`)}</span>`}</td>
      <td>${name(event.person)}${event.address && html`<small class="muted block">${event.address}</small>`}</td>
      <td class="value">${formatValue(event.subject)}</td>
      <td class="value small">${Object.entries(event.details ?? {}).map(([key, value]) => html`<span key=${key} class="block">
        <span class="muted">${key}:</span> ${formatValue(value)}</span>`)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

/** Verify the hash chain, optionally against an earlier head hash. */
function Verify() {
  const [head, setHead] = useState("");
  const [verdict, setVerdict] = useState(null);
  const [busy, setBusy] = useState(false);
  const verify = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setVerdict(await post("/audit/verify", head.trim() ? { head: head.trim() } : {}));
    } catch (problem) {
      toast(problem);
    }
    setBusy(false);
  };
  return html`<form class="card verify" onSubmit=${verify}>
    <p>${t("audit.about")}</p>
    <div class="bar"><input class="grow mono" aria-label=${t("audit.head")} placeholder=${t("audit.head")} value=${head}
      onInput=${(event) => setHead(event.target.value)} />
      <button class="button primary" disabled=${busy}>${t("audit.verify")}</button></div>
    <div role="status">${verdict && (verdict.ok
      ? html`<p class="notice good"><${Icon} name="check" />
        <span>${t("audit.whole", { count: verdict.events })} <span class="mono wrap">${verdict.head}</span></span></p>`
      : html`<p class="notice bad"><${Icon} name="warning" />
        <span>${t("audit.broken", { count: verdict.events })} ${verdict.fault}</span></p>`)}</div>
  </form>`;
}
