// A page of a PDF, drawn by pdf.js, with the passage highlighted. pdf.js is loaded with the first PDF.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { API, get, send } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Find } from "./find.js";
import { Marked } from "./marks.js";
import { Zoom, useZoom } from "./zoom.js";

const here = new URL("../vendor/pdf/", import.meta.url);
const MAX_SCALE = 6;
let library = null;

/** Load pdf.js with its worker; the policy allows no other workers. */
function pdfjs() {
  library ??= import("../vendor/pdf/pdf.min.mjs").then((made) => {
    const policy = globalThis.trustedTypes?.createPolicy("pincite", { createScriptURL: (url) => url });
    const address = new URL("pdf.worker.min.mjs", here).href;
    made.GlobalWorkerOptions.workerPort = new Worker(policy?.createScriptURL(address) ?? address, { type: "module" });
    return made;
  });
  return library;
}

/** Open the PDF file of a version. */
async function opened(documentId, version) {
  const [{ getDocument }, response] = await Promise.all([
    pdfjs(), send("GET", `/documents/${documentId}/file`, { params: { version } }),
  ]);
  const data = await response.arrayBuffer();
  const options = { standardFontDataUrl: new URL("fonts/", here).href, wasmUrl: new URL("wasm/", here).href };
  return getDocument({ data, ...options, isEvalSupported: false, enableXfa: false, stopAtErrors: false }).promise;
}

export function PageView({ place }) {
  const [file, setFile] = useState(null);
  const [spots, setSpots] = useState([]);
  const [number, setNumber] = useState(place.page ?? 1);
  const [found, setFound] = useState([]);
  const zoom = useZoom(place.end > place.start);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let left = false;
    let mine = null;
    opened(place.documentId, place.version).then((found) => {
      mine = found;
      if (left) found.destroy();
      else setFile(found);
    }, (error) => left || setProblem(error));
    return () => {
      left = true;
      mine?.destroy();
    };
  }, [place.documentId, place.version]);
  useEffect(() => {
    if (place.end <= place.start) return undefined; // the whole document: nothing to highlight
    let left = false;
    const span = { start: place.start, end: place.end, version: place.version };
    get(`/documents/${place.documentId}/places`, span).then(({ places }) => {
      if (left) return;
      setSpots(places);
      setNumber(places[0]?.page ?? place.page ?? 1);
    }, () => left || setNumber(place.page ?? 1));
    return () => (left = true);
  }, [place.key]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words ?? t("source.unreadable")}
    <a href=${`${API}/documents/${place.documentId}/file?version=${encodeURIComponent(place.version)}`} download>${t("source.download")}</a></p>`;
  const rects = spots.filter((one) => one.page === number).flatMap((one) => one.rects);
  const turn = (to) => (setNumber(to), setFound([]));
  return html`<div class="source-body pdf" aria-busy=${file === null}>
    ${file && html`
      <div class="pager">
        <button class="icon-button" aria-label=${t("source.page.before")} disabled=${number <= 1} onClick=${() => turn(number - 1)}><${Icon} name="back" /></button>
        <span aria-live="polite">${t("source.page", { number, of: file.numPages })}</span>
        <button class="icon-button" aria-label=${t("source.page.after")} disabled=${number >= file.numPages} onClick=${() => turn(number + 1)}><${Icon} name="chevron" /></button>
        <${Zoom} zoom=${zoom} />
        <${Find} file=${file} number=${number} go=${(to, boxes) => (setNumber(to), setFound(boxes))} />
      </div>
      <div class="zoomed" tabindex="0" role="region" aria-label=${t("source.page.plain", { number })}>
        <${Sheet} key=${`${number} ${zoom.value}`} file=${file} number=${number} rects=${rects} found=${found} zoom=${zoom.value} quote=${place.quote} /></div>`}
    ${!file && html`<div class="skeleton sheet"></div>`}
  </div>`;
}

/** One page, in its zoom relative to its pane, with highlights over it. */
function Sheet({ file, number, rects, found, zoom, quote }) {
  const box = useRef();
  const canvas = useRef();
  const [size, setSize] = useState(null);
  useEffect(() => {
    let drawing = null;
    let left = false;
    (async () => {
      const page = await file.getPage(number);
      const plain = page.getViewport({ scale: 1 });
      if (left) return;
      setSize(plain);
      const scale = (box.current.clientWidth / plain.width) * devicePixelRatio;
      const viewport = page.getViewport({ scale: Math.min(scale, MAX_SCALE) });
      Object.assign(canvas.current, { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
      drawing = page.render({ canvas: canvas.current, viewport });
      await drawing.promise.catch((error) => error.name === "RenderingCancelledException" || Promise.reject(error));
      if (!left) canvas.current.dataset.drawn = "true";
    })();
    return () => {
      left = true;
      drawing?.cancel();
    };
  }, [file, number]);
  useEffect(() => box.current.querySelector(found.length ? ".found" : ".rect")?.scrollIntoView({ block: "center", inline: "center" }), [size, rects.length, found]);
  const style = { width: `${zoom * 100}%`, ...(zoom > 1 && { maxWidth: "none" }), ...(size && { aspectRatio: `${size.width} / ${size.height}` }) };
  return html`<div class="sheet" ref=${box} style=${style}>
    <canvas ref=${canvas} role="img" aria-label=${rects.length ? t("source.page.marked", { number, quote }) : t("source.page.plain", { number })}></canvas>
    <${Marked} rects=${rects} width=${size?.width} height=${size?.height} />
    <${Marked} rects=${found} width=${size?.width} height=${size?.height} kind="rect found" />
  </div>`;
}
