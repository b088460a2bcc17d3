// The start page of Ask: an introduction and example questions.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { may } from "../shell/session.js";

export function Start({ person }) {
  const [empty, setEmpty] = useState(false);
  useEffect(() => {
    get("/documents", { limit: 1 }).then(({ items }) => setEmpty(items.length === 0), () => {});
  }, []);
  return html`<div class="start">
    <${Icon} name="mark" />
    <h2>${t("ask.title")}</h2>
    <p>${t("ask.lead")}</p>
    ${empty && html`<p class="notice">
      <${Icon} name="info" />
      <span>${t("ask.empty")} ${may(person.role, "editor") && html`<a href="/documents">${t("ask.empty.add")}</a>`}</span>
    </p>`}
  </div>`;
}
