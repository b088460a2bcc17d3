// The preview of a citation, shown while the pointer is on the citation or on the preview.
import { createPortal } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../common/html.js";
import { headings, readableQuote } from "../common/quotes.js";
import { percent, t } from "../common/words.js";
import { useKey } from "../shell/keys.js";
import { SUPPORTED } from "./answer.js";

const LEAVE_MS = 220;
const GAP = 8;

export function Peek({ mark, citation, answer, close }) {
  const card = useRef();
  const found = answer.citations[citation];
  const source = answer.sources.find((one) => one.number === found.source);
  useKey("Escape", close);
  useEffect(() => {
    let timer = null;
    const inside = (target) => target instanceof Node && (card.current?.contains(target) || mark.contains(target));
    const moved = (event) => {
      if (inside(event.target)) {
        clearTimeout(timer);
        timer = null;
      } else timer ??= setTimeout(close, LEAVE_MS);
    };
    const events = ["mouseover", "focusin"];
    for (const name of events) document.addEventListener(name, moved);
    mark.setAttribute("aria-describedby", "peek");
    return () => {
      clearTimeout(timer);
      mark.removeAttribute("aria-describedby");
      for (const name of events) document.removeEventListener(name, moved);
    };
  }, [mark]);
  useLayoutEffect(() => {
    const [at, size] = [mark.getBoundingClientRect(), card.current.getBoundingClientRect()];
    const below = at.bottom + GAP + size.height < innerHeight;
    card.current.style.left = `${Math.max(GAP, Math.min(at.left - 24, innerWidth - size.width - GAP))}px`;
    card.current.style.top = `${below ? at.bottom + GAP : Math.max(GAP, at.top - GAP - size.height)}px`;
  }, [mark]);
  // Outside its turn: `content-visibility` would clip a preview that extends beyond the turn.
  return createPortal(html`<div class="peek" role="tooltip" id="peek" ref=${card}>
    <p class="peek-title"><strong>${source.title || source.document_name}</strong>${headings(source).length > 0 && html` <span class="muted">› ${headings(source).at(-1)}</span>`}</p>
    <blockquote>${readableQuote(found.quote || source.snippet)}</blockquote>
    <p class="peek-foot muted">${found.place ?? source.place ?? t("ask.lines", { from: source.start_line, to: source.end_line })}
      ${" · "}${found.support < SUPPORTED && found.reason ? found.reason : t(found.support < SUPPORTED ? "ask.support.weak" : "ask.support", { share: percent(found.support) })}</p>
  </div>`, document.getElementById("main"));
}
