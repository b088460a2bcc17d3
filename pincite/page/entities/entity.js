// One entity: its facts and mentions, each opening the sentence in its document, and its neighbourhood.
import { useEffect, useRef, useState } from "preact/hooks";
import { Empty } from "../parts/empty.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Split } from "../parts/split.js";
import { get } from "../common/api.js";
import { html } from "../common/html.js";
import { useLoad } from "../common/load.js";
import { readableQuote } from "../common/quotes.js";
import { t } from "../common/words.js";
import { useKey } from "../shell/keys.js";
import { SourceView } from "../source/view.js";
import { Kind } from "./kind.js";
import { Neighbourhood } from "./neighbourhood.js";

const FIRST_SENTENCES = 12;

export function Entity({ id }) {
  const loaded = useLoad(() => get(`/graph/entities/${encodeURIComponent(id)}`), [id]);
  const [place, setPlace] = useState(null);
  const opener = useRef();
  const open = (found) => {
    opener.current = document.activeElement;
    setPlace(placeOf(found));
  };
  const close = () => {
    setPlace(null);
    opener.current?.focus();
  };
  useKey("Escape", place ? close : null);
  const name = loaded.value?.name;
  useEffect(() => {
    if (name) document.title = `${name} · pincite`;
  }, [name]);
  const side = place && html`<${SourceView} place=${place} close=${close} />`;
  return html`<${Split} name="entities" side=${side}><div class="room entity">
    <p><a href="/entities"><${Icon} name="back" />${t("entities.all")}</a></p>
    ${loaded.problem?.status === 404 && !loaded.value
      ? html`<${Empty} heading="h1" icon="entities" title=${t("entities.gone")} action=${{ label: t("entities.all"), href: "/entities" }}>${t("entities.gone.why")}</${Empty}>`
      : html`<${Loaded} from=${loaded}>${(entity) => html`
        <header><h1 tabindex="-1">${entity.name}</h1><${Kind} name=${entity.type} /><span class="muted">${t("entities.mentions", { count: entity.mentions })}</span></header>
        <${Facts} entity=${entity} open=${open} shown=${place?.key} />
        <${Neighbourhood} entity=${entity} />
        <${Mentions} places=${entity.places} open=${open} shown=${place?.key} />`}</${Loaded}>`}
  </div></${Split}>`;
}

/** The place for the source view; the version is a part of the passage's id. */
function placeOf(found) {
  const version = found.chunk_id.slice(found.document_id.length + 1, found.chunk_id.lastIndexOf("."));
  return {
    key: keyOf(found), documentId: found.document_id, version, title: found.title, name: found.title, heading: [], start: found.start, end: found.end,
    page: found.page, where: whereIs(found), quote: found.text, lines: [found.line, found.line + found.text.split("\n").length - 1],
  };
}

const keyOf = (place) => `${place.chunk_id}:${place.start}:${place.end}`;
const whereIs = (place) => (place.page ? t("entities.page", { page: place.page }) : t("entities.line", { line: place.line }));

function Facts({ entity, open, shown }) {
  const [all, setAll] = useState(false);
  const sentences = [...Map.groupBy(entity.facts, (fact) => keyOf(fact.place)).entries()];
  return html`<section aria-labelledby="facts">
    <h2 id="facts">${t("entities.facts")}</h2>
    ${sentences.length === 0 && html`<p class="muted">${t("entities.facts.none")}</p>`}
    <ul class="fact-list">${(all ? sentences : sentences.slice(0, FIRST_SENTENCES)).map(([key, facts]) => html`<li key=${key}>
      ${facts.map((fact, number) => html`<p key=${number} class="fact"><${Name} id=${fact.subject_id} name=${fact.subject} here=${entity.id} /> <span class="relation">${fact.relation}</span> <${Name} id=${fact.object_id} name=${fact.object} here=${entity.id} /></p>`)}
      <button class="sentence" aria-pressed=${shown === key} onClick=${() => open(facts[0].place)}>
        <q>${readableQuote(facts[0].place.text)}</q><span class="muted small">${facts[0].place.title} · ${whereIs(facts[0].place)}</span></button>
    </li>`)}</ul>
    ${sentences.length > FIRST_SENTENCES && !all && html`<button class="button" onClick=${() => setAll(true)}>${t("entities.more", { count: sentences.length - FIRST_SENTENCES })}</button>`}
  </section>`;
}

/** The name of a fact's side, a link where it is another entity. */
function Name({ id, name, here }) {
  return id && id !== here ? html`<a href=${`/entities/${encodeURIComponent(id)}`}>${name}</a>` : html`<strong>${name}</strong>`;
}

/** Where it is mentioned, by document. */
function Mentions({ places, open, shown }) {
  if (places.length === 0) return null;
  const documents = [...Map.groupBy(places, (place) => place.document_id).entries()];
  return html`<section aria-labelledby="mentions">
    <h2 id="mentions">${t("entities.places")}</h2>
    <ul class="fact-list">${documents.map(([id, found]) => html`<li key=${id}><a href=${`/documents/${encodeURIComponent(id)}`}>${found[0].title}</a>
      <span class="mention-places">${found.map((place) => html`<button key=${keyOf(place)} class="button small" aria-pressed=${shown === keyOf(place)} aria-label=${`${found[0].title}, ${whereIs(place)}`}
        onClick=${() => open(place)}>${whereIs(place)}</button>`)}</span></li>`)}</ul>
  </section>`;
}
