// The dialog that adds a source. Credentials are not entered here: the form takes the name of an environment variable.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Trouble } from "../parts/loaded.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const KINDS = {
  webdav: { url: "https://cloud.example.org/remote.php/dav/files/anna/", options: ["user"] },
  imap: { url: "imaps://mail.example.org/INBOX", options: ["user"] },
  s3: { url: "https://s3.example.org/bucket", options: ["access_key", "region", "prefix"] },
  feed: { url: "https://example.org/feed.xml", options: [] },
  sql: { url: "postgresql://db.example.org/shop", options: ["user", "query"] },
};

export function Editor({ close, saved }) {
  const [kind, setKind] = useState("webdav");
  const [problem, setProblem] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    setProblem(null);
    const given = Object.fromEntries(new FormData(event.target));
    const options = Object.fromEntries(KINDS[kind].options.map((name) => [name, given[`option.${name}`] ?? ""]).filter(([, value]) => value));
    const { name, url, folder, secret_env } = given;
    try {
      await post("/sources", { name, kind, url, folder, secret_env, options, every_minutes: Number(given.every) || 0 });
      close();
      saved();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Dialog} title=${t("sources.new")} close=${close} footer=${html`
      <button class="button" onClick=${close}>${t("dialog.cancel")}</button>
      <button class="button primary" form="source">${t("sources.save")}</button>`}>
    <form id="source" onSubmit=${save}>
      <${Field} as="select" name="kind" label=${t("sources.kind")} onChange=${(event) => setKind(event.target.value)}>
        ${Object.keys(KINDS).map((one) => html`<option key=${one} value=${one} selected=${one === kind}>${t(`sources.kind.${one}`)}</option>`)}
      </${Field}>
      <${Field} name="name" label=${t("sources.name")} required maxlength="100" />
      <${Field} name="url" label=${t("sources.url")} hint=${KINDS[kind].url} required spellcheck=${false} />
      ${KINDS[kind].options.map((one) => html`<${Field} key=${`${kind} ${one}`} name=${`option.${one}`} label=${t(`sources.option.${one}`)} spellcheck=${false} />`)}
      <${Field} name="secret_env" label=${t("sources.secret")} hint=${t("sources.secret.hint")} spellcheck=${false} />
      <${Field} name="folder" label=${t("sources.folder")} spellcheck=${false} />
      <${Field} name="every" type="number" min="0" label=${t("sources.every")} hint=${t("sources.every.hint")} />
      ${problem && html`<${Trouble} problem=${problem} />`}
    </form>
  </${Dialog}>`;
}
