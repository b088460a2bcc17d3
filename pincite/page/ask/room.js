// Ask: a question, its answer, and where each sentence stands.
import { useEffect, useRef, useState } from "preact/hooks";
import { toast } from "../parts/toast.js";
import { post } from "../shared/api.js";
import { html } from "../shared/html.js";
import { t } from "../shared/words.js";

export default function Ask() {
  const [answer, setAnswer] = useState(null);
  const field = useRef();
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current.focus();
  }, []);
  const ask = async (event) => {
    event.preventDefault();
    const message = new FormData(event.target).get("message");
    try {
      setAnswer(await post("/chat", { message }));
    } catch (problem) {
      toast(problem);
    }
  };
  return html`<div class="room narrow">
    <h1>${t("ask.title")}</h1>
    <form onSubmit=${ask} class="bar">
      <input ref=${field} data-ask name="message" aria-label=${t("ask.placeholder")} placeholder=${t("ask.placeholder")} />
      <button class="button primary">${t("ask.send")}</button>
    </form>
    ${answer && html`<p>${answer.answer}</p>`}
  </div>`;
}
