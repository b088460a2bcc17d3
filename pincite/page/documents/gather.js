// Collect files from a drop or a file chooser, with their folders.

const UNSEEN = /^\.|^(?:Thumbs\.db|desktop\.ini)$/i;

/** `[{file, folder}]` of dropped entries; hidden and system files are skipped. */
export async function gathered(entries, folder) {
  const found = [];
  for (const entry of entries) await walk(entry, folder, found);
  return found;
}

async function walk(entry, folder, found) {
  if (entry instanceof File) found.push({ file: entry, folder });
  else if (entry?.isFile) found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder });
  else if (entry?.isDirectory) for (const one of await listed(entry)) if (!UNSEEN.test(one.name)) await walk(one, joined(folder, entry.name), found);
}

/** All entries of a folder; browsers return them in batches. */
async function listed(directory) {
  const reader = directory.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return all;
    all.push(...some);
  }
}

/** `[{file, folder}]` of a file chooser, from relative paths. */
export function chosen(input, folder) {
  const named = [...input.files].map((file) => ({ file, parts: (file.webkitRelativePath || file.name).split("/") }));
  const seen = named.filter(({ parts }) => parts.length === 1 || !parts.slice(1).some((part) => UNSEEN.test(part)));
  return seen.map(({ file, parts }) => ({ file, folder: joined(folder, ...parts.slice(0, -1)) }));
}

export const joined = (...parts) => parts.filter(Boolean).join("/");
