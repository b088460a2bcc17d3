// The start page of Ask: an introduction, and questions that the user's own documents answer.
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { language, t } from "../common/words.js";
import { may } from "../shell/session.js";
import { asOptions, scope } from "./scope.js";

export function Start({ person, put }) {
  const { value: documents } = useLoad(() => get("/documents", { limit: 1 }));
  const { value: starters } = useLoad(() => get("/suggestions", { language }));
  const chosen = scope.use();
  const whole = !chosen.folder && !chosen.documents.length && !chosen.tags.length; // otherwise the questions may be about others
  return html`<div class="start">
    <${Icon} name="mark" />
    <h2>${t("ask.title")}</h2>
    <p>${t("ask.lead")}</p>
    ${documents?.items.length === 0 && html`<p class="notice">
      <${Icon} name="info" />
      <span>${t("ask.empty")} ${may(person.role, "editor") && html`<a href="/documents">${t("ask.empty.add")}</a>`}</span>
    </p>`}
    ${whole && starters?.items.length > 0 && html`<section class="starters" aria-label=${t("ask.starters")}>
      <h3>${t("ask.starters")}</h3>
      <ul class="tries">${starters.items.map(({ question, title }) => html`<li key=${question}>
        <button class="card way" onClick=${() => put(question, asOptions(chosen))}><${Icon} name="ask" /><strong>${question}</strong><span class="clip small">${title}</span></button>
      </li>`)}</ul></section>`}
  </div>`;
}
