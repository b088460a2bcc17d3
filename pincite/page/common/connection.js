// Whether the server can be reached: reported by requests, and polled until it is back.
import { state } from "./state.js";

const LIVE = "/api/v1/health/live";
const POLL_MS = 1500;

const reachable = state(true);
let asking = null;

async function ask() {
  try {
    if ((await fetch(LIVE, { cache: "no-store" })).ok) return connection.heard();
  } catch {
    // still unreachable
  }
  asking = setTimeout(ask, POLL_MS);
  return undefined;
}

export const connection = {
  use: () => reachable.use(),
  listen: (listener) => reachable.listen(listener),
  get reachable() {
    return reachable.value;
  },
  heard() {
    clearTimeout(asking);
    asking = null;
    reachable.set(true);
  },
  lost() {
    reachable.set(false);
    asking ??= setTimeout(ask, POLL_MS);
  },
  /** Resolves when the server responds. */
  back() {
    if (reachable.value) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = reachable.listen((value) => value && (stop(), resolve()));
    });
  },
};

addEventListener("offline", () => connection.lost());
addEventListener("online", () => ask());
