// Images of a question: chosen, pasted or dropped, and scaled down.
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";

const MAX_IMAGES = 8;
const MAX_SIDE_PX = 1600;
const JPEG_QUALITY = 0.85;

/** Convert image files to data URLs; other files are reported and skipped. */
export async function picturesOf(files, before = []) {
  const made = [...before];
  for (const file of files) {
    if (made.length >= MAX_IMAGES) {
      toast(t("pictures.many", { count: MAX_IMAGES }), { kind: "bad" });
      return made;
    }
    try {
      made.push({ name: file.name, url: await shrunk(file) });
    } catch {
      toast(t("pictures.none", { name: file.name }), { kind: "bad" });
    }
  }
  return made;
}

async function shrunk(file) {
  const picture = await createImageBitmap(file);
  const share = Math.min(1, MAX_SIDE_PX / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: Math.round(picture.width * share), height: Math.round(picture.height * share) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas.toDataURL(file.type === "image/png" && share === 1 ? "image/png" : "image/jpeg", JPEG_QUALITY);
}

export const imagesIn = (files) => [...files].filter((file) => file.type.startsWith("image/"));

/** The button that adds images. */
export function PictureButton({ take }) {
  const choose = (event) => {
    take([...event.target.files]);
    event.target.value = "";
  };
  return html`<label class="icon-button small" data-hint=${t("pictures.add")}>
    <${Icon} name="picture" /><span class="hidden-text">${t("pictures.add")}</span>
    <input class="hidden-text" type="file" accept="image/png,image/jpeg,image/webp,image/gif" multiple onChange=${choose} />
  </label>`;
}

/** The added images, each with a button to remove it. */
export function Pictures({ pictures, drop }) {
  if (!pictures.length) return null;
  return html`<ul class="pictures">${pictures.map((one, place) => html`<li key=${one.url}>
    <img src=${one.url} alt=${one.name} />
    <button type="button" class="icon-button small" aria-label=${t("pictures.drop", { name: one.name })} onClick=${() => drop(place)}><${Icon} name="close" /></button>
  </li>`)}</ul>`;
}
