// Add the sample documents, wait until they are processed, and suggest questions.
import { useState } from "preact/hooks";
import { ask, begin } from "../ask/conversation.js";
import { Icon } from "../parts/icon.js";
import { Progress } from "../parts/progress.js";
import { toast } from "../parts/toast.js";
import { get, post } from "../common/api.js";
import { html } from "../common/html.js";
import { language, t } from "../common/words.js";
import { go } from "../shell/router.js";

const POLL_MS = 400;
const MAX_QUESTIONS = 3;

export function Samples({ person }) {
  const [step, setStep] = useState("offer");
  const [share, setShare] = useState(0);
  const [questions, setQuestions] = useState([]);
  const add = async () => {
    setStep("adding");
    try {
      const taken = await post("/documents/samples");
      setQuestions(chosen(taken.questions));
      await settled(taken.documents, setShare);
      setStep("ready");
    } catch (problem) {
      toast(problem);
      setStep("offer");
    }
  };
  return html`
    <p class="brand"><${Icon} name="mark" />pincite</p>
    <h1>${step === "ready" ? t("setup.ready") : t("setup.welcome", { name: person.name })}</h1>
    <div aria-live="polite">
      ${step === "offer" && html`
        <p>${t("setup.choice")}</p>
        <div class="ways">
          <button class="card way" onClick=${add}><${Icon} name="documents" /><strong>${t("setup.samples")}</strong><span>${t("setup.samples.what")}</span></button>
          <a class="card way" href="/documents"><${Icon} name="upload" /><strong>${t("setup.own")}</strong><span>${t("setup.own.what")}</span></a>
        </div>`}
      ${step === "adding" && html`<p>${t("setup.adding")}</p><${Progress} label=${t("setup.adding")} value=${share} />`}
      ${step === "ready" && html`
        <p>${t("setup.try")}</p>
        <ul class="tries">${questions.map((one) => html`<li key=${one.question}>
          <button class="card way" lang=${one.language} onClick=${() => put(one.question)}><${Icon} name="ask" /><strong>${one.question}</strong></button>
        </li>`)}</ul>`}
    </div>`;
}

/** A few sample questions, preferably in the user's language. */
function chosen(questions) {
  const own = questions.filter((one) => one.language === language);
  return (own.length ? own : questions).slice(0, MAX_QUESTIONS);
}

/** Resolves when all documents are processed; `tell` gets the share that is done. */
async function settled(documents, tell) {
  const folder = documents[0].folder;
  for (;;) {
    const { items } = await get("/documents", { folder, limit: 1000 });
    const done = items.filter((one) => one.status === "completed" || one.status === "error").length;
    tell(done / items.length);
    if (done === items.length) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function put(question) {
  begin();
  ask(question, {}, (id) => go(`/ask/${id}`, { replace: true }));
  go("/ask");
}
