// Which passages answer the question, kept in an evaluation set made by hand.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { get, post, put } from "../shared/api.js";
import { html } from "../shared/html.js";
import { kept } from "../shared/kept.js";
import { useLoad } from "../shared/load.js";
import { t } from "../shared/words.js";

/** The marks of one question in the chosen set; every change of them is kept at once. */
export function useMarks(question, allowed) {
  const sets = useLoad(async () => (allowed ? (await get("/evaluation-sets")).items.filter((one) => one.made_by === "hand") : []));
  const [chosen, setChosen] = useState(() => kept.get("bench.set", ""));
  const [marked, setMarked] = useState(new Set());
  const known = (sets.value ?? []).find((one) => one.id === chosen);
  useEffect(() => {
    let left = false;
    setMarked(new Set());
    if (known && question) get(`/evaluation-sets/${known.id}`).then((set) => left || setMarked(marksOf(set, question)), toast);
    return () => (left = true);
  }, [known?.id, question]);
  const choose = (id) => (kept.set("bench.set", id || null), setChosen(id));
  const toggle = async (id) => {
    const next = new Set(marked);
    if (!next.delete(id)) next.add(id);
    try {
      const set = known?.id ?? (await post("/evaluation-sets")).id;
      await put(`/evaluation-sets/${set}/questions`, { text: question, chunk_ids: [...next] });
      setMarked(next);
      await sets.reload();
      choose(set);
    } catch (problem) {
      toast(problem);
    }
  };
  return { may: allowed, has: (id) => marked.has(id), toggle, count: marked.size, sets: sets.value ?? [], chosen: known?.id ?? "", choose };
}

/** What was marked for this question before: the first passage by its id, others by where they stand. */
function marksOf(set, question) {
  const found = set.items.find((one) => one.text === question.split(/\s+/).join(" "));
  return new Set(found ? [found.chunk_id, ...found.also.map((one) => one.chunk_id)] : []);
}

export function MarkBar({ marks }) {
  return html`<div class="bar mark-bar">
    <p class="grow" role="status"><${Icon} name="check" /> ${marks.count ? t("bench.saved", { count: marks.count }) : t("bench.mark.how")}</p>
    <label>${t("bench.set")} <select value=${marks.chosen} onChange=${(event) => marks.choose(event.target.value)}>
      <option value="">${t("bench.set.new")}</option>
      ${marks.sets.map((one) => html`<option key=${one.id} value=${one.id} selected=${one.id === marks.chosen}>${t("bench.set.name", { number: one.version, count: one.questions })}</option>`)}
    </select></label>
    <a class="button quiet" href="/evaluation">${t("bench.evaluate")}</a>
  </div>`;
}
