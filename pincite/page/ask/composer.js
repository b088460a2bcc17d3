// The question field, the scope button, and the button that asks or stops.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { keptInTab } from "../common/kept.js";
import { t } from "../common/words.js";
import { conversation, isBusy, stop } from "./conversation.js";
import { PictureButton, Pictures, imagesIn, picturesOf } from "./pictures.js";
import { ScopeButton, ScopeDialog, asOptions, scope } from "./scope.js";

const MAX_QUESTION_CHARS = 4000;

/** `editing` is `{later, stop}` while an earlier question is edited; `later` counts the questions after it. */
export function Composer({ draft, setDraft, put, first, editing }) {
  const field = useRef();
  const [choosing, setChoosing] = useState(false);
  const [pictures, setPictures] = useState([]);
  const chosen = scope.use();
  const { turns } = conversation.use();
  const busy = isBusy();
  useEffect(() => {
    setDraft(first ?? keptInTab.get("draft", ""));
    if (matchMedia("(pointer: fine)").matches) field.current.focus();
  }, []);
  useEffect(() => keptInTab.set("draft", draft || null), [draft]);
  useLayoutEffect(() => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight + 2}px`;
  }, [draft]);
  const send = (event) => {
    event?.preventDefault();
    const question = draft.trim();
    if (!question || busy) return;
    setDraft("");
    setPictures([]);
    put(question, { ...asOptions(chosen), ...(pictures.length > 0 && { mode: "vision", images: pictures.map((one) => one.url) }) });
  };
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  const take = async (files) => setPictures(await picturesOf(files, pictures));
  const given = (name) => (event) => {
    const images = imagesIn(event[name]?.files ?? []);
    if (!images.length) return;
    event.preventDefault();
    take(images);
  };
  return html`<form class="composer" onSubmit=${send} onPaste=${given("clipboardData")} onDrop=${given("dataTransfer")}>
    <div class="composer-box">
      ${editing && html`<p class="editing small"><${Icon} name="edit" /><span>${t("ask.editing")}${editing.later > 0 && html` ${t("ask.again.later", { count: editing.later })}`}</span>
        <button type="button" class="button quiet small" onClick=${editing.stop}>${t("dialog.cancel")}</button></p>`}
      <${Pictures} pictures=${pictures} drop=${(place) => setPictures(pictures.filter((_, number) => number !== place))} />
      <textarea ref=${field} data-ask rows="1" maxlength=${MAX_QUESTION_CHARS} value=${draft} aria-label=${t("ask.placeholder")} placeholder=${t("ask.placeholder")}
        onInput=${(event) => setDraft(event.target.value)} onKeyDown=${key}></textarea>
      <div class="composer-bar">
        <${ScopeButton} chosen=${chosen} open=${() => setChoosing(true)} />
        <${PictureButton} take=${take} />
        ${busy
          ? html`<button type="button" class="button stop" onClick=${() => stop(turns.at(-1))}><${Icon} name="stop" />${t("ask.stop")}</button>`
          : html`<button class="button primary" disabled=${!draft.trim()}><${Icon} name="send" />${t("ask.send")}</button>`}
      </div>
    </div>
    ${choosing && html`<${ScopeDialog} close=${() => setChoosing(false)} />`}
  </form>`;
}
