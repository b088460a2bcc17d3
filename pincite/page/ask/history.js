// The conversations in the side bar: newest first, with search, rename and delete.
import { useEffect, useRef, useState } from "preact/hooks";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { Rows } from "../parts/rows.js";
import { toast } from "../parts/toast.js";
import { get, patch, remove } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { changed, conversation } from "./conversation.js";
import { downloadConversation } from "./export.js";

const ROW_HEIGHT = 36;
const PAGE_SIZE = 50;

export function History() {
  const [words, setWords] = useState("");
  const [items, setItems] = useState(null);
  const [doing, setDoing] = useState(null);
  const next = useRef(null);
  const loading = useRef(false);
  const { sessionId } = conversation.use();
  const version = changed.use();
  const load = async (cursor) => {
    loading.current = true;
    try {
      const page = await get("/sessions", { q: words, limit: PAGE_SIZE, cursor });
      next.current = page.next_cursor;
      const begun = page.items.filter((one) => one.turn_count > 0); // the others have no answer yet
      setItems((before) => (cursor ? [...before, ...begun] : begun));
    } catch (problem) {
      if (problem.status !== 401) toast(problem);
      setItems((before) => before ?? []);
    }
    loading.current = false;
  };
  useEffect(() => {
    const timer = setTimeout(() => load(null), words ? 180 : 0);
    return () => clearTimeout(timer);
  }, [words, version]);
  const more = () => next.current && !loading.current && load(next.current);
  const row = (one) => html`<div class="past">
    <a href=${`/ask/${one.id}`} aria-current=${one.id === sessionId ? "page" : null} title=${one.title}>${one.title || t("history.untitled")}</a>
    <${Menu} label=${t("history.menu", { title: one.title })} items=${[
      { label: t("history.download"), icon: "download", onClick: () => downloadConversation(one.id).catch(toast) },
      { label: t("history.rename"), icon: "edit", onClick: () => setDoing({ what: "rename", one }) },
      { label: t("history.remove"), icon: "trash", danger: true, onClick: () => setDoing({ what: "remove", one }) },
    ]} />
  </div>`;
  return html`
    <a class="button small new" href="/ask"><${Icon} name="plus" />${t("ask.new")}</a>
    <input type="search" class="small" aria-label=${t("history.search")} placeholder=${t("history.search")} value=${words} onInput=${(event) => setWords(event.target.value)} />
    ${items && items.length === 0 && html`<p class="muted small none">${t(words ? "history.none.found" : "history.empty")}</p>`}
    ${items?.length > 0 && html`<${Rows} items=${items} height=${ROW_HEIGHT} row=${row} label=${t("history.title")} onEnd=${more} />`}
    ${doing?.what === "rename" && html`<${Rename} one=${doing.one} close=${() => setDoing(null)} />`}
    ${doing?.what === "remove" && html`<${Confirm} title=${t("history.remove")} label=${t("history.remove.yes")} close=${() => setDoing(null)} onConfirm=${() => drop(doing.one)}>
      <p>${t("history.remove.why", { title: doing.one.title })}</p></${Confirm}>`}`;
}

function Rename({ one, close }) {
  const save = async (event) => {
    event.preventDefault();
    try {
      await patch(`/sessions/${one.id}`, { title: new FormData(event.target).get("title") });
      changed.set((n) => n + 1);
      close();
    } catch (problem) {
      toast(problem);
    }
  };
  return html`<${Dialog} title=${t("history.rename")} close=${close}>
    <form onSubmit=${save}>
      <${Field} label=${t("history.name")} name="title" defaultValue=${one.title} required maxlength="200" />
      <p class="bar"><button class="button primary">${t("history.save")}</button></p>
    </form>
  </${Dialog}>`;
}

async function drop(one) {
  try {
    await remove(`/sessions/${one.id}`);
    changed.set((n) => n + 1);
    if (conversation.value.sessionId === one.id) go("/ask");
  } catch (problem) {
    toast(problem);
  }
}
