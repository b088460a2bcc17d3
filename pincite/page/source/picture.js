// An image file with the passage that was read from it highlighted.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { get, send } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Marked } from "./marks.js";
import { Zoom, useZoom } from "./zoom.js";

export function PictureView({ place }) {
  const [address, setAddress] = useState(null);
  const [found, setFound] = useState({ rects: [], width: 0, height: 0 });
  const [problem, setProblem] = useState(null);
  const zoom = useZoom();
  useEffect(() => {
    let made = null;
    let left = false;
    pictureOf(place).then((url) => (left ? URL.revokeObjectURL(url) : setAddress((made = url))), (error) => left || setProblem(error));
    return () => {
      left = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [place.documentId, place.version]);
  useEffect(() => {
    let left = false;
    marksOf(place).then((marks) => left || setFound(marks), () => {}); // without marks the picture is still of use
    return () => (left = true);
  }, [place.key]);
  if (problem) return html`<p class="notice bad" role="alert"><${Icon} name="warning" />${problem.words ?? t("source.picture.unreadable")}</p>`;
  return html`<div class="source-body" aria-busy=${address === null}>
    <div class="pager"><${Zoom} zoom=${zoom} /></div>
    ${address ? html`<div class="zoomed" tabindex="0" role="region" aria-label=${t("source.view.picture")}><div class="sheet picture" style=${{ width: `${zoom.value * 100}%` }}>
      <img src=${address} alt=${place.quote ? t("source.picture.marked", { quote: place.quote }) : t("source.picture")} onError=${() => setProblem({})} />
      <${Marked} rects=${found.rects} width=${found.width} height=${found.height} /></div></div>`
      : html`<div class="skeleton sheet"></div>`}
  </div>`;
}

async function pictureOf({ documentId, version }) {
  const response = await send("GET", `/documents/${encodeURIComponent(documentId)}/file`, { params: { version } });
  return URL.createObjectURL(await response.blob());
}

/** The boxes of the passage, in the unit of the page's width and height. */
async function marksOf({ documentId, version, start, end }) {
  if (end <= start) return { rects: [], width: 0, height: 0 };
  const [{ places }, { width, height }] = await Promise.all([
    get(`/documents/${encodeURIComponent(documentId)}/places`, { start, end, version }), get(`/documents/${encodeURIComponent(documentId)}/pages/1`, { version, start, end }),
  ]);
  return { rects: places.flatMap((one) => one.rects), width, height };
}
