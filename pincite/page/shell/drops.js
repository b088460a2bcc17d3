// Files dropped anywhere on the page are added: in Documents to the shown folder, elsewhere to the top folder.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../parts/icon.js";
import { toast } from "../parts/toast.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { currentPlace, go } from "./router.js";
import { may, session } from "./session.js";

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const inDocuments = () => currentPlace().path.split("/")[1] === "documents";
const folderHere = () => (inDocuments() && currentPlace().query.get("folder")) || "";

/** Listens while the frame is shown; a part of the page that takes a drop itself prevents its default. */
export function DropAnywhere() {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  useEffect(() => {
    const step = (by) => (event) => {
      if (!hasFiles(event)) return;
      depth.current = Math.max(0, depth.current + by);
      setOver(depth.current > 0 && mayAdd());
    };
    const heard = {
      dragenter: step(1),
      dragleave: step(-1),
      dragover: (event) => hasFiles(event) && event.preventDefault(), // otherwise the browser opens the file
      drop: (event) => {
        if (!hasFiles(event)) return;
        depth.current = 0;
        setOver(false);
        if (event.defaultPrevented) return;
        event.preventDefault();
        add(event.dataTransfer);
      },
    };
    for (const [name, hear] of Object.entries(heard)) addEventListener(name, hear);
    return () => Object.entries(heard).forEach(([name, hear]) => removeEventListener(name, hear));
  }, []);
  const folder = folderHere();
  return over && html`<div class="drop-veil"><p><${Icon} name="upload" />${folder ? t("documents.drop.folder", { folder }) : t("documents.drop")}</p></div>`;
}

const mayAdd = () => Boolean(session.person) && may(session.person.role, "editor");

async function add(transfer) {
  if (!mayAdd()) return toast(t(session.person ? "drop.reader" : "drop.login"), { kind: "warn" });
  const modules = Promise.all([import("../documents/gather.js"), import("../documents/uploads.js")]);
  try {
    const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
    const [{ gathered }, { send }] = await modules;
    const found = await gathered(entries, folderHere());
    if (!found.length) return toast(t("documents.nothing"), { kind: "warn" });
    send(found);
    const show = { label: t("drop.show"), onClick: () => go("/documents") };
    return inDocuments() || toast(t("drop.adding", { count: found.length }), { action: show });
  } catch (error) {
    return toast(new Error(t("documents.drop.failed", { why: error.message })));
  }
}
