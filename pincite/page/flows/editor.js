// The dialog that stores a flow: its name and its definition as JSON.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Trouble } from "../parts/loaded.js";
import { put } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const EXAMPLE = {
  nodes: [
    { id: "docs", type: "rag", queries: ["{input}"] },
    { id: "answer", type: "completion" },
  ],
  edges: [{ from: "docs", to: "answer" }],
};

export function Editor({ flow, close, saved }) {
  const [name, setName] = useState(flow?.name ?? "");
  const [text, setText] = useState(JSON.stringify(flow?.definition ?? EXAMPLE, null, 2));
  const [problem, setProblem] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    setProblem(null);
    try {
      const stored = await put(`/flows/${encodeURIComponent(name.trim())}`, parsed(text));
      close();
      saved(stored);
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Dialog} title=${t(flow ? "flows.edit" : "flows.new")} close=${close} footer=${html`
      <button class="button" onClick=${close}>${t("dialog.cancel")}</button>
      <button class="button primary" form="flow" disabled=${!name.trim()}>${t("flows.save")}</button>`}>
    <form id="flow" onSubmit=${save}>
      <${Field} label=${t("flows.name")} hint=${t("flows.name.hint")} value=${name} disabled=${Boolean(flow)} maxlength="60" spellcheck=${false}
        onInput=${(event) => setName(event.target.value)} />
      <${Field} as="textarea" label=${t("flows.definition")} hint=${t("flows.definition.hint")} class="mono flow-text" rows="16" spellcheck=${false} value=${text}
        onInput=${(event) => setText(event.target.value)} />
      ${problem && html`<${Trouble} problem=${problem} />`}
    </form>
  </${Dialog}>`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(t("flows.json", { detail: error.message }));
  }
}
