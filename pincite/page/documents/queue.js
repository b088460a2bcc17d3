// The live state of the queue: jobs, progress and summary.
import { useEffect } from "preact/hooks";
import { get } from "../common/api.js";
import { connection } from "../common/connection.js";
import { follow } from "../common/events.js";
import { state } from "../common/state.js";

const RETRY_MS = 2000;
const SUMMARY_MS = 3000;
const EMPTY = { jobs: new Map(), summary: null };

/** `jobs` by document; of a long queue only the running and next ones. */
export const queue = state(EMPTY);

const listeners = new Set();
/** Register a listener for documents whose processing has ended. */
export function onEnded(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let followers = 0;
let control = null;

/** Follow the queue while a component is shown. */
export function useQueue() {
  useEffect(() => {
    followers += 1;
    if (followers === 1) run();
    return () => {
      followers -= 1;
      if (!followers) control.abort();
    };
  }, []);
  return queue.use();
}

async function run() {
  control = new AbortController();
  const { signal } = control;
  const timer = setInterval(() => countAgain(signal), SUMMARY_MS);
  while (!signal.aborted) {
    try {
      await follow("GET", "/jobs/events", { signal, onEvent: hear });
    } catch {
      // unreachable, stopping or too many streams: retried while the component is shown
    }
    if (signal.aborted) break;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    await connection.back();
  }
  clearInterval(timer);
}

/** Rates and estimates have no events, so they are polled while jobs are running. */
async function countAgain(signal) {
  const { summary } = queue.value;
  if (!summary || !(summary.running + summary.waiting)) return;
  try {
    const { summary: fresh } = await get("/jobs", { limit: 1 }, { signal });
    queue.set((now) => ({ ...now, summary: fresh }));
  } catch {
    // retried at the next poll
  }
}

function hear({ name, data }) {
  if (name === "snapshot") queue.set({ jobs: new Map(data.items.map((job) => [job.document_id, job])), summary: data.summary });
  if (name === "summary") queue.set((now) => ({ ...now, summary: data }));
  if (name === "job") queue.set((now) => ({ ...now, jobs: new Map(now.jobs).set(data.document_id, data) }));
  if (name !== "ended") return;
  queue.set((now) => {
    const jobs = new Map(now.jobs);
    if (jobs.get(data.document_id)?.id === data.id) jobs.delete(data.document_id);
    return { ...now, jobs };
  });
  for (const listener of [...listeners]) listener(data.document_id);
}
