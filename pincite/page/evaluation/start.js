// The form that starts a run: question set, settings and profile.
import { useState } from "preact/hooks";
import { Field } from "../parts/field.js";
import { Trouble } from "../parts/loaded.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { pairs } from "../common/values.js";
import { t } from "../common/words.js";

const named = (set) => t("evaluation.set.choice", { number: set.version, count: set.questions, made: t(`evaluation.made.${set.made_by}`) });

export function Start({ sets, running, started }) {
  const usable = sets.filter((set) => set.questions > 0);
  const [set, setSet] = useState(usable[0]?.id ?? "");
  const [problem, setProblem] = useState(null);
  const begin = async (event) => {
    event.preventDefault();
    const form = Object.fromEntries(new FormData(event.target));
    setProblem(null);
    try {
      const which = set ? { set_id: set } : { renew: true, questions: Number(form.questions), ...(form.by ? { by: form.by } : {}) };
      await post("/evaluations", { ...which, settings: pairs(form.settings), ...(form.profile ? { profile: form.profile } : {}) });
      started();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<form class="card" onSubmit=${begin}>
    <p>${t("evaluation.about")}</p>
    <div class="two-fields">
      <${Field} as="select" label=${t("evaluation.set")} name="set" value=${set} onChange=${(event) => setSet(event.target.value)}>
        ${usable.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === set}>${named(one)}</option>`)}
        <option value="" selected=${set === ""}>${t("evaluation.set.new")}</option>
      </${Field}>
      ${!set && html`<${Field} label=${t("evaluation.questions")} name="questions" type="number" min="1" max="1000" value="100" />
        <${Field} as="select" label=${t("evaluation.by")} name="by"><option value="">${t("evaluation.by.either")}</option>
          <option value="words">${t("evaluation.made.words")}</option><option value="model">${t("evaluation.made.model")}</option></${Field}>`}
      <${Field} label=${t("replay.settings")} name="settings" placeholder="rag.alpha=0.2 rag.fusion=rrf" spellcheck=${false} />
      <${Field} label=${t("replay.profile")} name="profile" placeholder="vexora" spellcheck=${false} />
    </div>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <button class="button primary" disabled=${running}>${t(running ? "evaluation.running" : "evaluation.start")}</button>
  </form>`;
}
