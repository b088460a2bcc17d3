// One passage: rank and score, embedded text, and properties.
import { Icon } from "../parts/icon.js";
import { html } from "../common/html.js";
import { headings } from "../common/quotes.js";
import { t } from "../common/words.js";
import { Path } from "./scores.js";

export function Passage({ chunk, found, close }) {
  const place = found?.results.findIndex((hit) => hit.id === chunk.id) ?? -1;
  const facts = [
    [t("passage.section"), headings(chunk).join(" › ")],
    [t("passage.lines"), `${chunk.start_line}–${chunk.end_line}`],
    [t("passage.place"), chunk.place],
    [t("passage.offsets"), `${chunk.start_char}–${chunk.end_char}`],
    [t("passage.type"), t(`passages.type.${chunk.content_type}`)],
    [t("passage.language"), chunk.language],
    [t("passage.tokens"), chunk.tokens],
    [t("passage.id"), html`<code>${chunk.id}</code>`],
  ].filter(([, value]) => value);
  return html`<section class="passage-view" aria-label=${t("passages.number", { number: chunk.ordinal })}>
    <header>
      <h2>${t("passages.number", { number: chunk.ordinal })}</h2>
      <button class="icon-button" aria-label=${t("dialog.close")} onClick=${close}><${Icon} name="close" /></button>
    </header>
    <div class="passage-body">
      ${(chunk.warnings ?? []).map((warning) => html`<p key=${warning} class="notice warn"><${Icon} name="warning" />${warning}</p>`)}
      ${found && html`<h3>${place >= 0 ? t("passage.found", { rank: place + 1, of: found.results.length }) : t("passage.unfound", { count: found.results.length })}</h3>
        ${place >= 0 && html`<${Path} hit=${found.results[place]} />`}`}
      <h3>${t("passage.embedded")}</h3>
      <p class="muted small">${t(`passage.embedded.${chunk.vectorized_text ? "augmented" : chunk.embedded_text ? "original" : "unknown"}`)}</p>
      <pre class="embedded" tabindex="0">${chunk.vectorized_text ?? chunk.embedded_text ?? chunk.text}</pre>
      <h3>${t("passage.facts")}</h3>
      <dl class="known">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    </div>
  </section>`;
}
