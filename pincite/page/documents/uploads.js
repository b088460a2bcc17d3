// Files on their way to the server: a few at a time, each told by itself, tried again where that helps.
import { Problem, upload } from "../common/api.js";
import { connection } from "../common/connection.js";
import { state } from "../common/state.js";

const AT_ONCE = 3;
const DRAW_MS = 100;
const TRIES = 4;
const LONGEST_WAIT_S = 120;

/** `files` are `{key, name, folder, bytes, status, share, problem, document}`; status is waiting, sending, taken, known, failed or stopped. */
export const uploads = state({ files: [], round: 0 });

const listeners = new Set();
/** Hear each document that was taken in. */
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

/** Send files; those of before are forgotten once nothing of theirs is under way. */
export function send(found) {
  if (!files.some(underWay)) files = [];
  if (control.signal.aborted) {
    control = new AbortController();
    working = 0; // those of before may still wait for something
  }
  for (const { file, folder } of found)
    files.push({ key: (last += 1), file, name: file.name, folder, bytes: file.size, status: "waiting", share: 0, problem: null, document: null });
  draw();
  while (working < AT_ONCE && files.some((one) => one.status === "waiting")) work(control.signal);
}

export const underWay = (one) => one.status === "waiting" || one.status === "sending";

/** Stop what is under way; what was taken in stays. */
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
      const again = !signal.aborted && tries < TRIES && (await worthWaiting(problem));
      if (signal.aborted) return; // before, or while it was waited
      if (again) continue;
      Object.assign(one, { status: "failed", problem: problem instanceof Problem ? problem : new Problem({ code: "unreadable_file", detail: problem.message }) });
      break;
    }
  }
  draw();
}

/** Whether it is tried again, once that may help: a server that is away or busy is no fault of the file's. */
async function worthWaiting({ code, status, retryAfter }) {
  const wait = retryAfter ?? 1;
  if (code === "offline") await connection.back();
  else if ((status === 429 || status === 503) && wait <= LONGEST_WAIT_S) await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  else return false;
  return true;
}
