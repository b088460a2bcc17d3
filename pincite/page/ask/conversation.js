// The current conversation: its turns, and the running answer, if any.
import { Problem, get, remove } from "../common/api.js";
import { connection } from "../common/connection.js";
import { follow } from "../common/events.js";
import { keptInTab } from "../common/kept.js";
import { state } from "../common/state.js";
import { renumbered } from "./numbers.js";

const DRAW_MS = 40;
const EMPTY = { sessionId: null, turns: [], loading: false, problem: null };

/** `turns` are `{key, question, text, answer, status, …}`; status is asking, waiting, done, stopped, cut or failed. */
export const conversation = state(EMPTY);
/** Incremented whenever the list of conversations may have changed. */
export const changed = state(0);

let last = 0;
let leaving = null;

const busy = (turn) => turn?.status === "asking" || turn?.status === "waiting";
export const isBusy = () => conversation.value.turns.some(busy);

function change(key, more) {
  conversation.set((now) => ({ ...now, turns: now.turns.map((turn) => (turn.key === key ? { ...turn, ...more } : turn)) }));
}

/** Start a new conversation. */
export function begin() {
  leaving?.abort();
  conversation.set(EMPTY);
}

/** Open a stored conversation, and resume the answer that was running when the tab was reloaded. */
export async function open(sessionId) {
  if (conversation.value.sessionId === sessionId) return;
  leaving?.abort();
  conversation.set({ ...EMPTY, sessionId, loading: true });
  try {
    const session = await get(`/sessions/${encodeURIComponent(sessionId)}`);
    if (conversation.value.sessionId !== sessionId) return;
    conversation.set((now) => ({ ...now, loading: false, turns: session.turns.map(fromKept) }));
    takeUp(sessionId);
  } catch (problem) {
    conversation.set((now) => ({ ...now, loading: false, problem }));
  }
}

function fromKept({ question, text, answer, complete, removed, rating, trace_id: traceId, created_at: at }) {
  const shown = answer && renumbered(answer);
  return { key: (last += 1), question, text, answer: shown, removed, rating, traceId, at, status: complete ? "done" : "cut", steps: [] };
}

function takeUp(sessionId) {
  const under = keptInTab.get("stream");
  if (under?.sessionId !== sessionId) return;
  if (conversation.value.turns.some((turn) => turn.answer?.id === under.answerId)) return void keptInTab.set("stream", null);
  // The service stores a question before its answer: that turn is the one which is resumed.
  conversation.set((now) => ({ ...now, turns: now.turns.filter((one) => one.answer || one.traceId !== under.traceId) }));
  const turn = add(under.question, under.options);
  run(turn, { ...under, lastEventId: null });
}

function add(question, options) {
  const turn = { key: (last += 1), question, options, text: "", answer: null, status: "asking", steps: [], at: new Date().toISOString() };
  conversation.set((now) => ({ ...now, problem: null, turns: [...now.turns, turn] }));
  return turn;
}

/** Ask a question; `onSession` is called with the id of a new conversation. */
export function ask(question, options, onSession) {
  return run(add(question, options), null, onSession);
}

/** Ask in the place of a turn: it and the later turns give way to the new one. */
export function replace(turn, question, options) {
  const at = conversation.value.turns.findIndex((one) => one.key === turn.key);
  conversation.set((now) => ({ ...now, turns: now.turns.slice(0, at) }));
  return run(add(question, { ...options, ...(turn.traceId && { replaces: turn.traceId }) }), null);
}

/** The options of a turn that hold for further questions too. */
export function lastingOptions({ replaces, no_cache, model, images, ...options } = {}) {
  return options;
}

/** Stop the running answer; its text so far is kept. */
export async function stop(turn) {
  if (!turn.streamId) return void leaving?.abort("stopped");
  try {
    await remove(`/chat/streams/${turn.streamId}`);
  } catch {
    leaving?.abort("stopped"); // it has ended, or the server cannot be reached
  }
}

/** Follow one answer to its end, and reconnect when the connection breaks. */
async function run(turn, under, onSession) {
  const control = (leaving = new AbortController());
  const ear = listener(turn, under, onSession);
  let again = false;
  for (;;) {
    const problem = await listen(turn, ear, control.signal);
    if (ear.ended || problem === null) break;
    if (problem.code === "aborted") {
      if (control.signal.reason === "stopped") ear.finish({ status: "stopped" });
      break; // or the user left: the answer continues on the server and is resumed later
    }
    if (!["offline", "stopping", "overloaded"].includes(problem.code) && !(problem.status === 404 && ear.streamId)) {
      ear.finish({ status: "failed", problem });
      break;
    }
    change(turn.key, { status: "waiting", problem });
    if (problem.status !== 404) await reachable(problem);
    else if (again || !(await lostItsStream(turn, ear))) break;
    else again = true;
    change(turn.key, { status: "asking", problem: null, again });
  }
  changed.set((n) => n + 1);
}

async function reachable(problem) {
  if (problem.code === "overloaded") await new Promise((resolve) => setTimeout(resolve, (problem.retryAfter ?? 2) * 1000));
  else {
    connection.lost();
    await connection.back();
  }
}

/** One attempt; returns its error, or null if the answer is complete. */
async function listen(turn, ear, signal) {
  const onEvent = (event) => ear.hear(event);
  try {
    if (ear.streamId) await follow("GET", `/chat/streams/${ear.streamId}`, { lastEventId: ear.lastEventId, signal, onEvent });
    else {
      const { sessionId } = conversation.value;
      const body = { ...turn.options, message: turn.question, stream: true, resumable: true };
      await follow("POST", "/chat", { body: sessionId ? { ...body, session_id: sessionId } : body, signal, onEvent });
    }
    return ear.broke ?? (ear.ended ? null : new Problem({}));
  } catch (error) {
    if (signal.aborted) return { code: "aborted" };
    return error instanceof Problem ? error : new Problem({ code: "internal", detail: error.message });
  }
}

/** After a server restart the stream is lost: the answer is in the conversation, or the question is asked again. */
async function lostItsStream(turn, ear) {
  const { sessionId } = conversation.value;
  try {
    const session = await get(`/sessions/${encodeURIComponent(sessionId)}`);
    const kept = session.turns.find((one) => one.answer && one.answer.id === ear.answerId);
    if (kept) {
      ear.finish({ status: "done", text: kept.text, answer: renumbered(kept.answer) });
      return false;
    }
  } catch (problem) {
    if (problem.status === 404) conversation.set((now) => ({ ...now, sessionId: null })); // it was the first question of the conversation
  }
  ear.restart();
  return true;
}

/** The state of an answer after an event. */
function listener(turn, under, onSession) {
  let text = "";
  let drawing = null;
  const draw = () => {
    drawing = null;
    change(turn.key, { text });
  };
  const ear = {
    streamId: under?.streamId ?? null,
    answerId: under?.answerId ?? null,
    lastEventId: under?.lastEventId ?? null,
    ended: false,
    broke: null,
    hear({ name, id, data }) {
      ear.lastEventId = id ?? ear.lastEventId;
      ear.broke = null;
      HEARD[name]?.(data);
    },
    finish(more) {
      clearTimeout(drawing);
      drawing = null;
      ear.ended = true;
      keptInTab.set("stream", null);
      change(turn.key, { text, problem: null, ...more });
    },
    restart() {
      text = "";
      Object.assign(ear, { streamId: null, answerId: null, lastEventId: null, broke: null });
      change(turn.key, { text, streamId: null, sources: null, plan: null, steps: [] });
    },
  };
  const HEARD = {
    start({ id, trace_id: traceId, session_id: sessionId, stream_id: streamId }) {
      Object.assign(ear, { streamId, answerId: id });
      keptInTab.set("stream", { streamId, sessionId, answerId: id, traceId, question: turn.question, options: { ...turn.options, images: undefined } });
      change(turn.key, { streamId, traceId, status: "asking", problem: null });
      if (sessionId && conversation.value.sessionId !== sessionId) {
        conversation.set((now) => ({ ...now, sessionId }));
        onSession?.(sessionId);
        changed.set((n) => n + 1);
      }
    },
    plan: (plan) => change(turn.key, { plan }),
    step: (step) => conversation.set((now) => ({ ...now, turns: now.turns.map((one) => (one.key === turn.key ? { ...one, steps: [...one.steps, step] } : one)) })),
    sources: (found) => change(turn.key, { sources: found.sources ?? found }),
    token({ text: more }) {
      text += more;
      drawing ??= setTimeout(draw, DRAW_MS);
    },
    answer(answer) {
      text = answer.answer;
      clearTimeout(drawing);
      drawing = null;
      change(turn.key, { text, answer: renumbered(answer) });
    },
    done: () => ear.finish({ status: "done" }),
    error(told) {
      const problem = new Problem(told);
      if (problem.code === "stopping") ear.broke = problem;
      else ear.finish(problem.code === "cancelled" ? { status: "stopped" } : { status: "failed", problem });
    },
  };
  return ear;
}
