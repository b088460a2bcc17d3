// The actions of documents and folders, and their dialogs.
import { useState } from "preact/hooks";
import { toast } from "../parts/toast.js";
import { post } from "../common/api.js";
import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { askAbout } from "../ask/scope.js";
import { go } from "../shell/router.js";
import { cancelJob } from "./activity.js";
import { EditDialog } from "./edit.js";
import { FolderDialog } from "./folder.js";
import { queue } from "./queue.js";
import { RemovalDialog } from "./removal.js";
import { RightsDialog } from "./rights.js";
import { fileOf } from "./row.js";
import { folderAddress, lookAtFolders } from "./tree.js";

/** `act(name, document)` and `folder(name, folder)` start an action; `done` gets a changed document, `gone` a deleted one. */
export function useActs({ done, gone }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  const ask = ({ id, title, name }) => askAbout({ documents: [{ id, title, name }] });
  const now = { ask, download: save, reindex, cancel: (document) => cancelJob(queue.value.jobs.get(document.id)) };
  return {
    open,
    close,
    done,
    gone,
    act: (name, document) => (now[name] ? now[name](document) : setOpen({ name, document })),
    folder: (name, folder) => setOpen({ name: `folder.${name}`, folder }),
  };
}

function save(document) {
  const link = Object.assign(window.document.createElement("a"), { href: fileOf(document.id, document.version), download: document.name });
  link.click();
}

async function reindex(document) {
  try {
    await post("/documents/reindex", { document_ids: [document.id] });
    toast(t("documents.reindex.begun", { name: document.name }));
  } catch (problem) {
    toast(problem);
  }
}

/** The open dialog, if any. */
export function Acting({ acts, person }) {
  const { open, close, done, gone } = acts;
  if (!open) return null;
  const { document, folder } = open;
  const shown = {
    edit: () => html`<${EditDialog} document=${document} close=${close} done=${done} />`,
    rights: () => html`<${RightsDialog} person=${person} close=${close} done=${done}
      subject=${{ title: document.title, access: document.access, path: `/documents/${document.id}`, body: {}, inherits: t("rights.as.folder") }} />`,
    remove: () => html`<${RemovalDialog} close=${close} done=${() => (gone(document), lookAtFolders())}
      what=${{ title: document.title, question: t("removal.question", { name: document.title }), path: `/documents/${document.id}` }} />`,
    "folder.make": () => html`<${FolderDialog} fresh folder=${folder} close=${close} done=${(made) => go(folderAddress(made.path))} />`,
    "folder.change": () => html`<${FolderDialog} folder=${folder} close=${close} done=${(made) => go(folderAddress(made.path))} />`,
    "folder.rights": () => html`<${RightsDialog} person=${person} close=${close} done=${lookAtFolders}
      subject=${{ title: folder.path, access: folder.access, path: "/folders", body: { path: folder.path }, inherits: t("rights.as.above") }} />`,
    "folder.remove": () => html`<${RemovalDialog} close=${close} done=${() => (lookAtFolders(), go("/documents"))}
      what=${{ title: folder.path, question: t("removal.question.folder", { path: folder.path, count: folder.documents ?? 0 }), path: "/folders", params: { path: folder.path, recursive: true } }} />`,
  };
  return shown[open.name]();
}
