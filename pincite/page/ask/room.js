// Ask: the conversation, and beside it the source document at the cited passage.
import { useEffect, useRef, useState } from "preact/hooks";
import { Confirm } from "../parts/dialog.js";
import { Split } from "../parts/split.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { useKey } from "../shell/keys.js";
import { go } from "../shell/router.js";
import { aside } from "../shell/sidebar.js";
import { Empty } from "../parts/empty.js";
import { SourceView } from "../source/view.js";
import { Composer } from "./composer.js";
import { ask, begin, conversation, isBusy, lastingOptions, open, replace } from "./conversation.js";
import { History } from "./history.js";
import { Start } from "./start.js";
import { Turn } from "./turn.js";

const SHOWN_TURNS = 30;

export default function Ask({ rest, query, person }) {
  const { sessionId, turns, loading, problem } = conversation.use();
  const [place, setPlace] = useState(null);
  const [draft, setDraft] = useState("");
  const [editing, setEditing] = useState(null);
  const [sure, setSure] = useState(null);
  const wanted = rest[0] ?? null;
  useEffect(() => {
    aside.set(() => History);
    return () => aside.set(null);
  }, []);
  useEffect(() => {
    if (wanted) open(wanted);
    else if (!isBusy() || sessionId) begin();
    setPlace(null);
    setEditing(null);
  }, [wanted]);
  useKey("Escape", place ? () => setPlace(null) : null);
  const put = (question, options = {}) => {
    if (!editing) return ask(question, options, (id) => go(`/ask/${id}`, { replace: true }));
    setEditing(null);
    return replace(editing, question, { ...options, no_cache: true });
  };
  const edit = (turn) => {
    setEditing(turn);
    setDraft(turn.question);
    document.querySelector("[data-ask]")?.focus();
  };
  const later = (turn) => turns.length - 1 - turns.findIndex((one) => one.key === turn.key);
  const again = (turn, more = {}) => {
    const act = () => replace(turn, turn.question, { ...lastingOptions(turn.options), ...(turn.options?.images && { images: turn.options.images }), no_cache: true, ...more });
    return later(turn) ? setSure({ count: later(turn), act }) : act();
  };
  const side = place && html`<${SourceView} place=${place} close=${() => setPlace(null)} />`;
  return html`<${Split} name="ask" side=${side}>
    <div class="ask">
      <h1 class="hidden-text">${t("view.ask")}</h1>
      ${problem ? html`<${Empty} icon="warning" title=${t("ask.gone")} action=${{ label: t("ask.new"), href: "/ask" }}>${problem.words}</${Empty}>`
        : loading ? html`<div class="thread" aria-busy="true"><div class="skeleton wide"></div><div class="skeleton"></div><div class="skeleton"></div></div>`
        : turns.length ? html`<${Thread} turns=${turns} shown=${place} show=${setPlace} edit=${edit} put=${put} again=${again} />`
        : html`<${Start} put=${put} person=${person} />`}
      <${Composer} draft=${draft} setDraft=${setDraft} put=${put} first=${query.get("q")}
        editing=${editing && { later: later(editing), stop: () => (setEditing(null), setDraft("")) }} />
      ${sure && html`<${Confirm} title=${t("ask.again")} label=${t("ask.again")} close=${() => setSure(null)} onConfirm=${() => void sure.act()}>
        <p>${t("ask.again.later", { count: sure.count })}</p></${Confirm}>`}
    </div>
  </${Split}>`;
}

/** The turns; earlier ones are shown on demand, and a new question is scrolled to the top. */
function Thread({ turns, shown, show, edit, put, again }) {
  const box = useRef();
  const atEnd = useRef(true);
  const [count, setCount] = useState(SHOWN_TURNS);
  const first = Math.max(0, turns.length - count);
  const scroll = () => {
    if (!box.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    atEnd.current = scrollHeight - scrollTop - clientHeight < 80;
    if (scrollTop < 200 && first > 0) more();
  };
  const more = () => {
    const before = box.current.scrollHeight - box.current.scrollTop;
    setCount(count + SHOWN_TURNS);
    requestAnimationFrame(() => box.current && (box.current.scrollTop = box.current.scrollHeight - before));
  };
  const last = turns.at(-1);
  useEffect(() => {
    if (atEnd.current && last.status === "asking" && !last.answer) box.current.scrollTop = box.current.scrollHeight;
  }, [last.text]);
  useEffect(() => {
    atEnd.current = true;
    box.current.querySelector(".turn:last-child").scrollIntoView({ block: "start" }); // the question, not the end of the answer
  }, [last.key]);
  return html`<div class="thread" ref=${box} onScroll=${scroll} tabindex="0" role="log" aria-label=${t("ask.thread")}>
    ${first > 0 && html`<button class="button small earlier" onClick=${more}>${t("ask.earlier", { count: first })}</button>`}
    ${turns.slice(first).map((turn) => html`<${Turn} key=${turn.key} turn=${turn} last=${turn === turns.at(-1)} shown=${shown} show=${show} edit=${edit} put=${put} again=${again} />`)}
  </div>`;
}
