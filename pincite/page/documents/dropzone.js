// The drop zone of the documents view.
import { useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { dropped } from "./gather.js";

/** `take(files)` gets the dropped files; null if the user may not add any. */
export function DropZone({ folder, take, children }) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const files = (event) => take && [...event.dataTransfer.types].includes("Files");
  const step = (by) => (event) => {
    if (!files(event)) return;
    event.preventDefault();
    depth.current += by;
    setOver(depth.current > 0);
  };
  const drop = async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    try {
      take(await dropped(event.dataTransfer, folder));
    } catch (error) {
      toast(new Error(t("documents.drop.failed", { why: error.message })));
    }
  };
  return html`<div class="room shelf" onDragEnter=${step(1)} onDragLeave=${step(-1)} onDragOver=${(event) => files(event) && event.preventDefault()} onDrop=${drop}>
    ${children}
    ${over && html`<div class="drop-veil"><p><${Icon} name="upload" />${folder ? t("documents.drop.folder", { folder }) : t("documents.drop")}</p></div>`}
  </div>`;
}
