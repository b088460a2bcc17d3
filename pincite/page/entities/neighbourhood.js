// The neighbourhood of an entity: a picture of two hops whose nodes can be dragged, and the same entities as a list.
import { useMemo, useReducer, useRef } from "preact/hooks";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { go } from "../shell/router.js";
import { Kind } from "./kind.js";

const SIZES = { wide: [680, 440], narrow: [360, 440] };
const NARROW_PX = 860;
const [MAX_NEAR, MAX_FAR] = [14, 16];
const TICKS = 300;
const LABEL_CHARS = 22;
const LABEL_HEIGHT = 38;
const SPREADING_ROUNDS = 60;
const DRAG_PX = 4;

export function Neighbourhood({ entity }) {
  const near = entity.neighbours.filter((one) => one.hops === 1);
  const far = entity.neighbours.filter((one) => one.hops === 2);
  if (near.length === 0) return null;
  const names = new Map(near.map((one) => [one.entity.id, one.entity.name]));
  return html`<section aria-labelledby="neighbours">
    <h2 id="neighbours">${t("entities.neighbours")}</h2>
    <div class="neighbourhood">
      <${Picture} key=${entity.id} entity=${entity} near=${near.slice(0, MAX_NEAR)} far=${far} />
      <div class="neighbour-lists" tabindex="0" role="group" aria-label=${t("entities.neighbours")}>
        <h3>${t("entities.hop.first")}</h3>
        <ul class="entity-list">${near.map((one) => html`<li key=${one.entity.id}><${Row} entity=${one.entity} note=${t("entities.together", { count: one.count })} /></li>`)}</ul>
        ${far.length > 0 && html`<h3>${t("entities.hop.second")}</h3>
          <ul class="entity-list">${far.map((one) => html`<li key=${one.entity.id}><${Row} entity=${one.entity} note=${t("entities.via", { name: names.get(one.via) ?? "" })} /></li>`)}</ul>`}
      </div>
    </div>
  </section>`;
}

function Row({ entity, note }) {
  return html`<a href=${`/entities/${encodeURIComponent(entity.id)}`}><span class="grow"><strong>${entity.name}</strong> <span class="muted small">${note}</span></span><${Kind} name=${entity.type} /></a>`;
}

/** Nodes and links; the entity is fixed in the middle. Only second neighbours whose first neighbour is drawn are drawn. */
function layout(entity, near, far, [width, height]) {
  const drawn = new Set(near.map((one) => one.entity.id));
  const nodes = [
    { id: entity.id, name: entity.name, type: entity.type, hops: 0, fx: 0, fy: 0 },
    ...near.map((one) => ({ id: one.entity.id, name: one.entity.name, type: one.entity.type, hops: 1 })),
    ...far.filter((one) => drawn.has(one.via)).slice(0, MAX_FAR).map((one) => ({ id: one.entity.id, name: one.entity.name, type: one.entity.type, hops: 2, via: one.via })),
  ];
  const links = nodes.slice(1).map((one) => ({ source: one.via ?? entity.id, target: one.id }));
  const simulation = forceSimulation(nodes)
    .force("link", forceLink(links).id((one) => one.id).distance((one) => (one.target.hops === 1 ? width / 5 : 70)).strength(0.6))
    .force("charge", forceManyBody().strength(-260))
    .force("x", forceX().strength(0.05))
    .force("y", forceY().strength(0.12))
    .force("collide", forceCollide((one) => Math.min(one.name.length, LABEL_CHARS) * 2.2 + 12))
    .stop();
  simulation.tick(TICKS);
  spread(nodes, width, height);
  const [top, bottom] = [Math.min(...nodes.map((one) => one.y)) - 24, Math.max(...nodes.map((one) => one.y)) + 36];
  return { nodes, links, simulation, width, top: Math.min(top, -70), bottom: Math.max(bottom, 70) };
}

const halfLabel = (one) => Math.min(one.name.length, LABEL_CHARS) * 3.8 + 6;

/** Move nodes whose labels overlap apart, in the direction of the smaller overlap. */
function spread(nodes, width, height) {
  for (let round = 0; round < SPREADING_ROUNDS; round += 1) {
    for (const [at, one] of nodes.entries()) {
      keepInside(one, width, height);
      for (const other of nodes.slice(at + 1)) {
        const [x, y] = [halfLabel(one) + halfLabel(other) - Math.abs(one.x - other.x), LABEL_HEIGHT - Math.abs(one.y - other.y)];
        if (x <= 0 || y <= 0) continue;
        const axis = x < y ? "x" : "y";
        const push = (Math.min(x, y) / 2 + 1) * (one[axis] < other[axis] ? -1 : 1);
        if (one.hops > 0) one[axis] += push;
        other[axis] -= one.hops > 0 ? push : 2 * push;
      }
    }
  }
  for (const one of nodes) keepInside(one, width, height);
}

function keepInside(one, width, height) {
  const half = halfLabel(one);
  one.x = Math.max(-width / 2 + half, Math.min(width / 2 - half, one.x));
  one.y = Math.max(-height / 2 + 14, Math.min(height / 2 - 26, one.y));
}

function Picture({ entity, near, far }) {
  const size = SIZES[innerWidth < NARROW_PX ? "narrow" : "wide"];
  const { nodes, links, simulation, width, top, bottom } = useMemo(() => layout(entity, near, far, size), [entity]);
  const [, redraw] = useReducer((count) => count + 1, 0);
  const box = useRef();
  const held = useRef(null);
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(box.current.getScreenCTM().inverse());
  const take = (node) => (event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    held.current = { node, x: event.clientX, y: event.clientY, moved: false };
  };
  const move = (event) => {
    const drag = held.current;
    if (!drag) return;
    drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAG_PX;
    if (!drag.moved) return;
    const point = at(event);
    Object.assign(drag.node, { fx: point.x, fy: point.y, x: point.x, y: point.y });
    simulation.alpha(0.2).tick(2);
    for (const one of nodes) if (one !== drag.node) keepInside(one, ...size);
    redraw();
  };
  const drop = () => {
    const drag = held.current;
    held.current = null;
    if (drag && !drag.moved && drag.node.id !== entity.id) go(`/entities/${encodeURIComponent(drag.node.id)}`);
  };
  return html`<figure class="picture">
    <svg ref=${box} viewBox=${`${-width / 2} ${top} ${width} ${bottom - top}`} role="img" aria-label=${t("entities.picture", { name: entity.name })} onPointerMove=${move} onPointerUp=${drop} onPointerCancel=${drop}>
      ${links.map((one) => html`<line key=${one.target.id} class=${`hop-${one.target.hops}`} x1=${one.source.x} y1=${one.source.y} x2=${one.target.x} y2=${one.target.y} />`)}
      ${nodes.map((one) => html`<g key=${one.id} class=${`node hop-${one.hops} ${one.type}`} transform=${`translate(${one.x} ${one.y})`} onPointerDown=${take(one)}>
        <title>${one.name}</title><circle r=${[11, 8, 6][one.hops]} /><text y=${[26, 22, 19][one.hops]}>${short(one.name)}</text></g>`)}
    </svg>
    <figcaption class="muted small">${t("entities.picture.hint")}</figcaption>
  </figure>`;
}

const short = (name) => (name.length > LABEL_CHARS ? `${name.slice(0, LABEL_CHARS - 1)}…` : name);
