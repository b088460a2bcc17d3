// File uploads: a few in parallel, each with its own status and retries.
import { Problem, upload } from "../common/api.js";
import { connection } from "../common/connection.js";
import { state } from "../common/state.js";

const PARALLEL_UPLOADS = 3;
const DRAW_MS = 100;
const MAX_ATTEMPTS = 4;
const MAX_WAIT_S = 120;

/** `files` are `{key, name, folder, bytes, status, share, problem, document}`; status is waiting, sending, taken, known, failed or stopped. */
export const uploads = state({ files: [], round: 0 });

const listeners = new Set();
/** Register a listener for uploaded documents. */
export function onTaken(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let files = [];
let control = new AbortController();
let last = 0;
let working = 0;
let drawing = null;

function draw() {
  drawing ??= setTimeout(() => {
    drawing = null;
    uploads.set({ files: [...files], round: uploads.value.round + 1 });
  }, DRAW_MS);
}

/** Upload files; earlier finished uploads are removed from the list. */
export function send(found) {
  if (!files.some(underWay)) files = [];
  if (control.signal.aborted) {
    control = new AbortController();
    working = 0; // earlier uploads may still be waiting
  }
  for (const { file, folder } of found)
    files.push({ key: (last += 1), file, name: file.name, folder, bytes: file.size, status: "waiting", share: 0, problem: null, document: null });
  draw();
  while (working < PARALLEL_UPLOADS && files.some((one) => one.status === "waiting")) work(control.signal);
}

export const underWay = (one) => one.status === "waiting" || one.status === "sending";

/** Cancel running uploads; uploaded files stay. */
export function stop() {
  control.abort();
  for (const one of files.filter(underWay)) Object.assign(one, { status: "stopped", file: null });
  draw();
}

export function again(key) {
  const one = files.find((file) => file.key === key);
  files = files.filter((file) => file !== one);
  send([{ file: one.file, folder: one.folder }]);
}

export function forget() {
  files = files.filter(underWay);
  draw();
}

async function work(signal) {
  working += 1;
  for (let one; !signal.aborted && (one = files.find((file) => file.status === "waiting")); ) await sendOne(one, signal);
  if (signal === control.signal) working -= 1;
}

async function sendOne(one, signal) {
  one.status = "sending";
  const onProgress = (share) => {
    one.share = share;
    draw();
  };
  for (let tries = 1; ; tries += 1) {
    const form = new FormData();
    if (one.folder) form.append("folder", one.folder);
    form.append("file", one.file, one.name);
    try {
      const told = await upload("/documents/upload", form, { onProgress, signal });
      Object.assign(one, { status: told.duplicate ? "known" : "taken", share: 1, document: told.document, file: null });
      for (const listener of listeners) listener(told.document);
      break;
    } catch (problem) {
      const again = !signal.aborted && tries < MAX_ATTEMPTS && (await worthWaiting(problem));
      if (signal.aborted) return; // before or during the wait
      if (again) continue;
      Object.assign(one, { status: "failed", problem: problem instanceof Problem ? problem : new Problem({ code: "unreadable_file", detail: problem.message }) });
      break;
    }
  }
  draw();
}

/** Whether to retry, after waiting: an unreachable or busy server is not an error of the file. */
async function worthWaiting({ code, status, retryAfter }) {
  const wait = retryAfter ?? 1;
  if (code === "offline") await connection.back();
  else if ((status === 429 || status === 503) && wait <= MAX_WAIT_S) await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  else return false;
  return true;
}
