// The relevance marks of a question, stored in an evaluation set.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { get, post, put } from "../common/api.js";
import { html } from "../common/html.js";
import { kept } from "../common/kept.js";
import { useLoad } from "../common/load.js";
import { t } from "../common/words.js";

/** The marks of one question in the selected set; changes are saved in order. */
export function useMarks(question, allowed) {
  const sets = useLoad(async () => (allowed ? (await get("/evaluation-sets")).items.filter((one) => one.made_by === "hand") : []));
  const [chosen, setChosen] = useState(() => kept.get("bench.set", ""));
  const [marked, setMarked] = useState(new Set());
  const [saved, setSaved] = useState(0);
  const now = useRef({ marked, set: "", question: null, work: Promise.resolve() }).current;
  const known = (sets.value ?? []).find((one) => one.id === chosen)?.id ?? "";
  const show = (next) => setMarked((now.marked = next));
  const look = async () => {
    show(new Set());
    setSaved(0);
    Object.assign(now, { set: known, question });
    if (!known || !question) return;
    const found = marksOf(await get(`/evaluation-sets/${known}`), question);
    if (now.set !== known || now.question !== question) return;
    show(found);
    setSaved(found.size);
  };
  useEffect(() => {
    if (now.set !== known || now.question !== question) look().catch(toast); // recent marks are already known
  }, [known, question]);
  const choose = (id) => (kept.set("bench.set", id || null), setChosen(id));
  const keep = async (wanted, next) => {
    const set = wanted || now.set || (await post("/evaluation-sets")).id;
    now.set ||= set;
    await put(`/evaluation-sets/${set}/questions`, { text: question, chunk_ids: [...next] });
    await sets.reload();
    if (now.set !== set || now.question !== question) return;
    choose(set);
    setSaved(next.size);
  };
  const toggle = (id) => {
    const next = new Set(now.marked);
    if (!next.delete(id)) next.add(id);
    show(next);
    const wanted = now.set;
    now.work = now.work.then(() => keep(wanted, next)).catch((problem) => (toast(problem), look()));
  };
  return { may: allowed && sets.value !== null, has: (id) => marked.has(id), toggle, saved, sets: sets.value ?? [], chosen: known, choose };
}

/** Load the marks of this question. */
function marksOf(set, question) {
  const found = set.items.find((one) => one.text === question.split(/\s+/).join(" "));
  return new Set(found ? [found.chunk_id, ...found.also.map((one) => one.chunk_id)] : []);
}

export function MarkBar({ marks }) {
  return html`<div class="bar mark-bar">
    <p class="grow" role="status"><${Icon} name="check" /> ${marks.saved ? t("bench.saved", { count: marks.saved }) : t("bench.mark.how")}</p>
    <label>${t("bench.set")} <select value=${marks.chosen} onChange=${(event) => marks.choose(event.target.value)}>
      <option value="">${t("bench.set.new")}</option>
      ${marks.sets.map((one) => html`<option key=${one.id} value=${one.id}
        selected=${one.id === marks.chosen}>${t("bench.set.name", { number: one.version, count: one.questions })}</option>`)}
    </select></label>
    <a class="button quiet" href="/evaluation">${t("bench.evaluate")}</a>
  </div>`;
}
