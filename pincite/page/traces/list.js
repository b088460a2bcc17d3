// The list of traces, newest first, with filters for kind, status, time and duration.
import { useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Loaded, Trouble } from "../parts/loaded.js";
import { toast } from "../parts/toast.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { moment, number, t } from "../common/words.js";
import { go } from "../shell/router.js";

const KINDS = ["query", "chat", "search", "replay", "evaluation", "ingest"];
const SLOW_MS = ["100", "500", "1000", "5000"];
const WITHIN_H = { hour: 1, day: 24, week: 168 };

export function List({ query, person }) {
  const chosen = Object.fromEntries(["kind", "status", "slow", "within"].map((name) => [name, query.get(name) ?? ""]));
  const [more, setMore] = useState([]);
  const params = {
    kind: chosen.kind === "all" ? "" : chosen.kind, evaluations: chosen.kind ? null : false, errors: chosen.status === "failed" || null, degraded: chosen.status === "degraded" || null,
    slower_than_ms: chosen.slow, since: WITHIN_H[chosen.within] && new Date(Date.now() - WITHIN_H[chosen.within] * 3600_000).toISOString(), limit: 50,
  };
  const loaded = useLoad(() => (setMore([]), get("/traces", params)), Object.values(chosen));
  const set = (name) => (event) => {
    const next = Object.entries({ ...chosen, [name]: event.target.value }).filter(([, value]) => value);
    go(`/traces${next.length ? `?${new URLSearchParams(next)}` : ""}`, { replace: true });
  };
  const onwards = (cursor) => get("/traces", { ...params, cursor }).then((page) => setMore([...more, page]), toast);
  return html`<div class="room">
    <header><h1>${t("view.traces")}</h1><button class="button" onClick=${loaded.reload}>${t("traces.again")}</button></header>
    <div class="bar filters" role="search" aria-label=${t("traces.filters")}>
      <${Choice} label=${t("traces.kind")} value=${chosen.kind} onChange=${set("kind")} first=${t("traces.usual")} options=${[["all", t("audit.all")], ...KINDS.map((kind) => [kind, t(`kind.${kind}`)])]} />
      <${Choice} label=${t("traces.status")} value=${chosen.status} onChange=${set("status")}
        options=${[["failed", t("traces.failed")], ["degraded", t("traces.degraded")]]} />
      <${Choice} label=${t("traces.slow")} value=${chosen.slow} onChange=${set("slow")}
        options=${SLOW_MS.map((ms) => [ms, t("traces.slower", { ms: Number(ms) })])} />
      <${Choice} label=${t("traces.within")} value=${chosen.within} onChange=${set("within")}
        options=${Object.keys(WITHIN_H).map((one) => [one, t(`traces.within.${one}`)])} />
    </div>
    <${Loaded} from=${loaded}>${(first) => {
      const pages = [first, ...more];
      const items = pages.flatMap((page) => page.items);
      const cursor = pages.at(-1).next_cursor;
      return html`${loaded.problem && html`<${Trouble} problem=${loaded.problem} />`}
        ${items.length ? html`<${Table} items=${items} person=${person} />` : html`<${Empty} icon="traces"
          title=${t("traces.none")}>${t("traces.none.why")}</${Empty}>`}
        ${cursor && html`<button class="button" onClick=${() => onwards(cursor)}>${t("list.more")}</button>`}`;
    }}</${Loaded}>
  </div>`;
}

function Choice({ label, value, onChange, options, first = t("audit.all") }) {
  return html`<label>${label} <select value=${value} onChange=${onChange}>
    <option value="">${first}</option>
    ${options.map(([name, text]) => html`<option key=${name} value=${name} selected=${name === value}>${text}</option>`)}
  </select></label>`;
}

function Table({ items, person }) {
  const longest = Math.max(...items.map((one) => one.duration_ms), 1);
  return html`<div class="table" tabindex="0" role="region" aria-label=${t("view.traces")}><table class="traces">
    <thead><tr><th>${t("traces.when")}</th><th>${t("traces.kind")}</th><th>${t("traces.what")}</th><th>${t("traces.status")}</th>
      <th class="number">${t("traces.took")}</th></tr></thead>
    <tbody>${items.map((one) => html`<tr key=${one.id}>
      <td class="nowrap"><a href=${`/traces/${one.id}`}><time datetime=${one.started_at}>${moment(one.started_at)}</time></a></td>
      <td class="nowrap">${t(`kind.${one.kind}`)}</td>
      <td class="value">${one.question ?? one.document_name ?? html`<span class="muted">${t(one.owner === person?.id ? "traces.no.words" : "traces.others")}</span>`}</td>
      <td><${Status} trace=${one} /></td>
      <td class="number took"><span class="took-bar"
        style=${{ width: `${(one.duration_ms / longest) * 100}%` }}></span>${number(one.duration_ms, one.duration_ms < 10 ? 1 : 0)} ms</td>
    </tr>`)}</tbody>
  </table></div>`;
}

/** The status of a request. */
export function Status({ trace }) {
  if (trace.error) return html`<span class="badge bad">${trace.code ?? t("traces.failed")}</span>`;
  if (trace.degraded.length) return html`<span class="badge warn">${t("traces.degraded")}</span>`;
  return html`<span class="badge good">${t("traces.fine")}</span>`;
}
