// Search bench: one question with several configurations side by side; relevant passages are marked for evaluation.
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { keptInTab } from "../common/kept.js";
import { pairs } from "../common/values.js";
import { t } from "../common/words.js";
import { may } from "../shell/session.js";
import { Column, name } from "./column.js";
import { Configuration, fresh } from "./configuration.js";
import { MarkBar, useMarks } from "./marks.js";

const MAX_CONFIGURATIONS = 4;

export default function Bench({ query, person }) {
  const [text, setText] = useState(query.get("q") ?? keptInTab.get("bench.question", ""));
  const [configurations, setConfigurations] = useState(() => keptInTab.get("bench.configurations") ?? [fresh(), fresh({ strategy: "lexical_only" })]);
  const [asked, setAsked] = useState(null);
  const [results, setResults] = useState({});
  const [hot, setHot] = useState(null);
  const turn = useRef(0);
  const marks = useMarks(asked?.question ?? null, may(person.role, "editor"));
  const change = (id, with_) => setConfigurations((list) => list.map((one) => (one.id === id ? { ...one, ...with_ } : one)));
  const ask = (event) => {
    event?.preventDefault();
    const question = text.trim();
    if (!question) return;
    const mine = (turn.current += 1);
    keptInTab.set("bench.question", question);
    keptInTab.set("bench.configurations", configurations);
    setAsked({ question, configurations });
    setResults({});
    for (const one of configurations) {
      search(question, one).then((found) => mine === turn.current && setResults((held) => ({ ...held, [one.id]: found })));
    }
  };
  useEffect(() => {
    if (query.get("q")) ask();
  }, []);
  return html`<div class="room bench">
    <header><h1>${t("view.bench")}</h1></header>
    <form class="bar" role="search" onSubmit=${ask}>
      <input class="grow" aria-label=${t("bench.question")} placeholder=${t("bench.question")} value=${text}
        onInput=${(event) => setText(event.target.value)} maxlength="4000" />
      <button class="button primary"><${Icon} name="search" />${t("bench.search")}</button>
    </form>
    <div class="configurations">
      ${configurations.map((one, place) => html`<${Configuration} key=${one.id} value=${one} number=${place + 1}
        change=${(with_) => change(one.id, with_)} administrator=${person.role === "administrator"}
        remove=${configurations.length > 1 ? () => setConfigurations(configurations.filter((other) => other !== one)) : null} />`)}
      ${configurations.length < MAX_CONFIGURATIONS && html`<button class="button add-configuration"
        onClick=${() => setConfigurations([...configurations, fresh()])}><${Icon} name="plus" />${t("bench.add")}</button>`}
    </div>
    ${asked === null ? html`<${Empty} icon="bench" title=${t("bench.empty")}>${t("bench.empty.why")}</${Empty}>` : html`
      ${marks.may && html`<${MarkBar} marks=${marks} />`}
      <div class="columns" style=${{ "--columns": asked.configurations.length }}>
        ${asked.configurations.map((one, place) => html`<${Column} key=${one.id} title=${name(one, place)} found=${results[one.id]}
          first=${place === 0 ? null : results[asked.configurations[0].id]} marks=${marks} hot=${hot} setHot=${setHot} />`)}
      </div>`}
  </div>`;
}

/** The results of one configuration, or its error. */
async function search(query, { strategy, profile, settings }) {
  try {
    const body = { query, explain: true, ...(strategy && { strategy }), ...(profile && { profile }), settings: pairs(settings) };
    const started = performance.now();
    const result = await post("/search", body);
    return { ...result, ms: performance.now() - started };
  } catch (problem) {
    return { problem };
  }
}
