// The actions of an answer: copy with references, download, share, show its trace, ask again, and give feedback.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { post } from "../common/api.js";
import { copy } from "../common/clipboard.js";
import { html } from "../common/html.js";
import { day, t } from "../common/words.js";
import { downloadAnswer } from "./export.js";
import { AgainMenu } from "./again.js";
import { withReferences } from "./references.js";

export function Actions({ turn, again }) {
  const { answer, question } = turn;
  const [shared, setShared] = useState(null);
  const share = async () => {
    try {
      setShared(await post("/shares", { answer_id: answer.id }));
    } catch (problem) {
      toast(problem);
    }
  };
  const button = (name, label, onClick, more = {}) => html`<button class="icon-button small" aria-label=${label} data-hint=${label} onClick=${onClick} ...${more}><${Icon} name=${name} /></button>`;
  return html`<div class="actions" role="group" aria-label=${t("ask.actions")}>
    ${answer && html`
      ${button("copy", t("ask.copy"), async () => (await copy(withReferences(question, answer))) && toast(t("ask.copied")))}
      ${button("download", t("ask.download"), () => downloadAnswer(question, answer))}
      ${button("link", t("ask.share"), share)}
      <${Feedback} answerId=${answer.id} before=${turn.rating} button=${button} />`}
    ${button("refresh", t("ask.again"), () => again())}
    <${AgainMenu} again=${again} />
    ${turn.traceId && html`<a class="icon-button small" href=${`/traces/${turn.traceId}`} aria-label=${t("ask.trace")} data-hint=${t("ask.trace")}><${Icon} name="traces" /></a>`}
    ${shared && html`<${Shared} share=${shared} close=${() => setShared(null)} />`}
  </div>`;
}

function Shared({ share, close }) {
  const link = `${location.origin}/share#${share.id}`;
  return html`<${Dialog} title=${t("ask.share")} close=${close}>
    <p>${t("ask.share.why", { until: day(share.expires_at) })}</p>
    <div class="bar"><input readonly value=${link} aria-label=${t("ask.share.link")} onFocus=${(event) => event.target.select()} />
      <button class="button primary" onClick=${async () => (await copy(link)) && toast(t("ask.copied"))}>${t("ask.share.copy")}</button></div>
  </${Dialog}>`;
}

function Feedback({ answerId, before, button }) {
  const [rating, setRating] = useState(before ?? null);
  const [asking, setAsking] = useState(false);
  const rate = async (value, comment) => {
    try {
      await post("/feedback", { answer_id: answerId, rating: value, ...(comment ? { comment } : {}) });
      setRating(value);
      if (value === "down" && !comment) setAsking(true);
      else toast(t("ask.thanks"));
    } catch (problem) {
      toast(problem);
    }
  };
  const send = async (event) => {
    event.preventDefault();
    const comment = new FormData(event.target).get("comment").trim();
    setAsking(false);
    if (comment) await rate("down", comment);
  };
  return html`
    ${button("up", t("ask.helped"), () => rate("up"), { "aria-pressed": rating === "up" })}
    ${button("down", t("ask.helped.not"), () => rate("down"), { "aria-pressed": rating === "down" })}
    ${asking && html`<${Dialog} title=${t("ask.helped.not")} close=${() => setAsking(false)}>
      <form onSubmit=${send}>
        <label for="comment">${t("ask.comment")}</label>
        <textarea id="comment" name="comment" rows="4" maxlength="2000" autofocus></textarea>
        <p class="bar"><button class="button primary">${t("ask.comment.send")}</button></p>
      </form>
    </${Dialog}>`}`;
}
