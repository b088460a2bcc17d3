// Log in by name and password, or through OpenID Connect.
import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { API, get } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { session } from "../shell/session.js";

export default function Login({ query, person }) {
  const [ways, setWays] = useState({ oidc: false, setup: false });
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const name = useRef();
  const to = inside(query.get("next"));
  useEffect(() => {
    get("/auth/ways", {}, { quiet: true }).then(setWays, setProblem);
  }, []);
  useEffect(() => {
    if (person) go(to, { replace: true });
    else name.current?.querySelector("input").focus();
  }, [person]);
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    setBusy(true);
    setProblem(null);
    try {
      await session.logIn(given.get("name"), given.get("password"));
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  };
  return html`<div class="door">
    <p class="brand"><${Icon} name="mark" />pincite</p>
    <h1>${t("login.title")}</h1>
    ${ways.setup && html`<p class="notice"><${Icon} name="info" /><span>${t("login.setup")} <code>pincite serve</code></span></p>`}
    <form onSubmit=${send} ref=${name}>
      <${Field} label=${t("login.name")} name="name" autocomplete="username" required maxlength="100" autocapitalize="none" spellcheck=${false} />
      <${Field} label=${t("login.password")} name="password" type="password" autocomplete="current-password" required maxlength="1000" />
      <div role="alert">${problem && html`<p class="notice bad"><${Icon} name="warning" />${problem.words}</p>`}</div>
      <button class="button primary" disabled=${busy}>${t("login.send")}</button>
    </form>
    ${ways.oidc && html`<p class="or">${t("login.or")}</p><a class="button" href=${`${API}/auth/oidc/login`}><${Icon} name="key" />${t("login.oidc")}</a>`}
  </div>`;
}

/** A safe URL of this page, or the start page. */
function inside(address) {
  return address && /^\/(?![/\\])/.test(address) ? address : "/ask";
}
