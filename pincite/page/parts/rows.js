// A virtual list: only visible rows are drawn.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../common/html.js";

const SPARE_ROWS = 8;

/** `height` is the row height in pixels; `row(item, index)` draws a row; `onEnd` is called near the end. */
export function Rows({ items, height, row, label, onEnd, role = "list" }) {
  const box = useRef();
  const [range, setRange] = useState([0, 40]);
  const look = () => {
    if (!box.current) return; // a late event after unmounting
    const { scrollTop, clientHeight } = box.current;
    const first = Math.max(0, Math.floor(scrollTop / height) - SPARE_ROWS);
    const last = Math.ceil((scrollTop + clientHeight) / height) + SPARE_ROWS;
    setRange((before) => (before[0] === first && before[1] === last ? before : [first, last]));
    if (last >= items.length) onEnd?.();
  };
  useEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [items.length, height]);
  const [first, last] = range;
  return html`<div class="rows" ref=${box} onScroll=${look} tabindex="0" role="group" aria-label=${label}>
    <div role=${role} aria-label=${label} class="rows-all" style=${{ height: `${items.length * height}px` }}>
      ${items.slice(first, last).map((item, place) => html`
        <div key=${item.id ?? first + place} class="row" role=${role === "list" ? "listitem" : "row"} aria-setsize=${role === "list" ? items.length : null}
          aria-posinset=${role === "list" ? first + place + 1 : null} style=${{ top: `${(first + place) * height}px`, height: `${height}px` }}>
          ${row(item, first + place)}
        </div>`)}
    </div>
  </div>`;
}
