// Files out of a drop or a chooser, each with the folder it lies in; folders are walked through.

const UNSEEN = /^\.|^(?:Thumbs\.db|desktop\.ini)$/i;

/** `[{file, folder}]` of what was dropped. What a folder hides, and what the system puts there, is passed over. */
export async function dropped(transfer, folder) {
  // Both must be asked for before anything is awaited: afterwards the drop is over.
  const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  for (const entry of entries) await walk(entry, folder, found);
  return found;
}

async function walk(entry, folder, found) {
  if (entry instanceof File) found.push({ file: entry, folder });
  else if (entry?.isFile) found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder });
  else if (entry?.isDirectory) for (const one of await listed(entry)) if (!UNSEEN.test(one.name)) await walk(one, joined(folder, entry.name), found);
}

/** All that lies in a folder; a browser hands it out some at a time. */
async function listed(directory) {
  const reader = directory.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return all;
    all.push(...some);
  }
}

/** The same of a file chooser, which knows a folder's files by their paths. */
export function chosen(input, folder) {
  const named = [...input.files].map((file) => ({ file, parts: (file.webkitRelativePath || file.name).split("/") }));
  const seen = named.filter(({ parts }) => parts.length === 1 || !parts.slice(1).some((part) => UNSEEN.test(part)));
  return seen.map(({ file, parts }) => ({ file, folder: joined(folder, ...parts.slice(0, -1)) }));
}

export const joined = (...parts) => parts.filter(Boolean).join("/");
