// The session: loaded at start, and cleared when the server reports that it has expired.
import { get, onUnauthorized, post } from "../common/api.js";
import { state } from "../common/state.js";

const person = state(null);

export const session = {
  /** `{id, name, role, groups}`, or null if nobody is logged in. */
  get person() {
    return person.value;
  },
  use: () => person.use(),
  async load() {
    try {
      person.set((await get("/auth/ways", {}, { quiet: true })).user); // `/me` would log an error where nobody is logged in
    } catch {
      person.set(null); // not logged in or unreachable; the frame shows which
    }
    return person.value;
  },
  async logIn(name, password) {
    await post("/auth/login", { name, password }, { quiet: true });
    return session.load();
  },
  async logOut() {
    await post("/auth/logout", {}, { quiet: true });
    person.set(null);
  },
};

onUnauthorized(() => person.set(null));

const RANKS = ["reader", "editor", "administrator"];
/** Whether a role includes another. */
export const may = (role, needed) => RANKS.indexOf(role) >= RANKS.indexOf(needed);
