// Plots with intervals, bars and a diagonal. The data is always shown as text or table too.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../common/html.js";

let library = null;

/** Load uPlot and its style with the first plot. */
function load() {
  library ??= import("../vendor/uplot.mjs").then((module) => {
    const sheet = document.createElement("link");
    Object.assign(sheet, { rel: "stylesheet", href: new URL("../vendor/uplot.css", import.meta.url).href });
    document.head.append(sheet);
    return module.default;
  });
  return library;
}

const FONT = "12px system-ui";
const INKS = ["accent", "warn", "good", "bad"];

/** The current colours of the page, since a canvas cannot use custom properties. */
function palette() {
  return { inks: INKS.map(colour), text: colour("ink-2"), line: colour("line") };
}

function colour(name) {
  const probe = document.createElement("span"); // a new element each time, since colour changes may be animated
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** A value that changes with the colours of the page. */
function useColours() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const again = () => setTurn((n) => n + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const chosen = new MutationObserver(again);
    dark.addEventListener("change", again);
    chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-contrast"] });
    return () => (dark.removeEventListener("change", again), chosen.disconnect());
  }, []);
  return turn;
}

/**
 * `series` are `{name, points: [{x, value, low?, high?}], bars?}`; `ticks` names whole numbers of x;
 * `diagonal` draws the line x = y; `y` and `x` are `[from, to]`.
 */
export function Plot({ title, about, series, ticks = null, x, y = [0, 1], diagonal = false, labels = {}, height = 260 }) {
  const box = useRef();
  const colours = useColours();
  useEffect(() => {
    let plot = null;
    let left = false;
    const element = box.current;
    const size = () => ({ width: Math.max(200, element.clientWidth), height });
    const observer = new ResizeObserver(() => plot?.setSize(size()));
    load().then((UPlot) => {
      if (left) return;
      const look = palette();
      const axis = (label, more) => ({
        label, stroke: look.text, grid: { stroke: look.line, width: 1 }, ticks: { show: false },
        font: FONT, labelFont: FONT, labelSize: label ? 22 : 0, ...more,
      });
      const named = ticks ? {
        splits: () => ticks.map((_, place) => place), values: (_, places) => places.map((place) => ticks[place]), grid: { show: false },
      } : {};
      plot = new UPlot({
        ...size(), legend: { show: false }, cursor: { show: false },
        scales: { x: { time: false, range: x }, y: { range: y } },
        axes: [axis(labels.x, named), axis(labels.y, { size: 48 })],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: { draw: [(self) => draw(self, series, look, diagonal, UPlot.pxRatio)] },
      }, [series[0].points.map((point) => point.x), series[0].points.map((point) => point.value)], element);
      observer.observe(element);
    });
    return () => {
      left = true;
      observer.disconnect();
      plot?.destroy();
    };
  }, [JSON.stringify([series, ticks, x, y]), colours]);
  return html`<figure class="plot">
    <figcaption><strong>${title}</strong>${about && html` <span class="muted small">${about}</span>`}
      ${series.length > 1 && html`<ul class="legend">${series.map((one, place) => html`<li key=${one.name}>
        <span class=${`swatch ${INKS[place]}`}></span>${one.name}</li>`)}</ul>`}</figcaption>
    <div ref=${box} role="img" aria-label=${title} style=${{ minHeight: `${height}px` }}></div>
  </figure>`;
}

function draw(self, series, look, diagonal, ratio) {
  const { ctx } = self;
  const at = (value, scale) => self.valToPos(value, scale, true);
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  if (diagonal) line(ctx, look.text, [at(0, "x"), at(0, "y")], [at(1, "x"), at(1, "y")], [4 * ratio, 4 * ratio]);
  series.forEach(({ points, bars }, place) => {
    const ink = look.inks[place];
    const width = Math.max(3, (at(0.7, "x") - at(0, "x")) / series.length);
    const shift = (place - (series.length - 1) / 2) * (bars ? width : 9 * ratio);
    for (const { x, value, low, high } of points) {
      const [left, top] = [at(x, "x") + shift, at(value, "y")];
      ctx.fillStyle = ink;
      if (bars) {
        ctx.fillRect(left - width / 2, top, width, at(0, "y") - top);
        continue;
      }
      if (low !== undefined) {
        line(ctx, ink, [left, at(low, "y")], [left, at(high, "y")]);
        for (const end of [low, high]) line(ctx, ink, [left - 4 * ratio, at(end, "y")], [left + 4 * ratio, at(end, "y")]);
      }
      ctx.beginPath();
      ctx.arc(left, top, 4 * ratio, 0, 2 * Math.PI);
      ctx.fill();
    }
  });
  ctx.restore();
}

function line(ctx, ink, [fromX, fromY], [toX, toY], dash = []) {
  ctx.strokeStyle = ink;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}
