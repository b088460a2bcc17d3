// The documents that match a filter, loaded page by page and kept up to date.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { toast } from "../parts/toast.js";
import { get } from "../common/api.js";
import { onEnded } from "./queue.js";

const PAGE_SIZE = 200;
const MAX_REFRESHED = 1000;
const MAX_SINGLE_UPDATES = 5;
const GATHER_MS = 600;

/** `{items, complete, loading, more, refresh, put, drop}` for a filter of the service. */
export function useListing(filter) {
  const [pages, setPages] = useState({ items: [], cursor: null, complete: false, loading: true });
  const now = useRef();
  now.current = pages;
  const key = JSON.stringify(filter);
  const acts = useMemo(() => actions(filter, setPages, now), [key]);
  useEffect(() => {
    acts.begin();
    return acts.leave;
  }, [acts]);
  useEffect(() => onEnded(acts.look), [acts]);
  return { ...pages, ...acts };
}

function actions(filter, setPages, now) {
  const control = new AbortController();
  const ended = new Set();
  let asking = false;
  let timer = null;
  const ask = (limit, cursor) => get("/documents", { ...filter, limit, cursor }, { signal: control.signal });
  const failed = (problem) => problem.name === "AbortError" || toast(problem);

  async function load(cursor) {
    if (asking) return;
    asking = true;
    try {
      const { items, next_cursor: next } = await ask(PAGE_SIZE, cursor);
      setPages((before) => ({ items: cursor ? [...before.items, ...items] : items, cursor: next, complete: !next, loading: false }));
    } catch (problem) {
      failed(problem);
      if (!control.signal.aborted) setPages((before) => ({ ...before, loading: false, complete: true }));
    }
    asking = false;
  }

  /** Reload the shown documents; of more than a thousand only the first ones. */
  async function refresh() {
    try {
      const { items, next_cursor: next } = await ask(Math.min(MAX_REFRESHED, Math.max(PAGE_SIZE, now.current.items.length)), null);
      setPages((before) => {
        if (before.items.length <= MAX_REFRESHED) return { items, cursor: next, complete: !next, loading: false };
        const fresh = new Map(items.map((one) => [one.id, one]));
        return { ...before, items: before.items.map((one) => fresh.get(one.id) ?? one) };
      });
    } catch (problem) {
      failed(problem);
    }
  }

  const put = (document) => setPages((before) => ({ ...before, items: before.items.map((one) => (one.id === document.id ? document : one)) }));
  const drop = (id) => setPages((before) => ({ ...before, items: before.items.filter((one) => one.id !== id) }));

  async function look() {
    const ids = [...ended];
    ended.clear();
    const shown = new Set(now.current.items.map((one) => one.id));
    if (ids.length > MAX_SINGLE_UPDATES || ids.some((id) => !shown.has(id))) return refresh();
    return Promise.all(ids.map((id) => get(`/documents/${id}`).then(put, (problem) => problem.status === 404 && drop(id))));
  }

  return {
    refresh,
    put,
    drop,
    begin() {
      setPages((before) => ({ ...before, loading: true }));
      load(null);
    },
    more: () => now.current.cursor && load(now.current.cursor),
    leave() {
      clearTimeout(timer);
      control.abort();
    },
    /** Reload a document whose job ended, together with others that end at about the same time. */
    look(id) {
      ended.add(id);
      clearTimeout(timer);
      timer = setTimeout(look, GATHER_MS);
    },
  };
}
