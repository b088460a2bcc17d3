// Server-sent events over fetch, which can POST and resume.
import { Problem, send } from "./api.js";
import { connection } from "./connection.js";

/** Split a stream of text chunks into events. */
export function eventReader(onEvent) {
  let rest = "";
  let event = fresh();
  const line = (text) => {
    if (text === "") {
      if (event.data !== null) onEvent({ ...event, data: JSON.parse(event.data) });
      event = fresh(event.id);
      return;
    }
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(text);
    if (name === "event") event.name = value;
    else if (name === "id") event.id = value;
    else if (name === "data") event.data = event.data === null ? value : `${event.data}\n${value}`;
  };
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const one of lines) line(one.endsWith("\r") ? one.slice(0, -1) : one);
  };
}

const fresh = (id = null) => ({ name: "message", id, data: null });

/** Pass each event of a stream to `onEvent` until it ends; throws a Problem if the connection breaks. */
export async function follow(method, path, { body, lastEventId, signal, onEvent }) {
  const headers = lastEventId ? { "Last-Event-ID": lastEventId } : {};
  const response = await send(method, path, { body, headers, signal });
  if (response.status === 204) return;
  const read = eventReader(onEvent);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await heard(reader);
    if (done) return;
    read(value);
  }
}

async function heard(reader) {
  try {
    return await reader.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connection.lost();
    throw new Problem({});
  }
}
