// HTTP client of the service: JSON with the session cookie; every error is a Problem.
import { connection } from "./connection.js";
import { told } from "./told.js";
import { knows, t } from "./words.js";

export const API = "/api/v1";

/** An error with the message of the service and a text for the user. */
export class Problem extends Error {
  constructor({ status = 0, code = "offline", title = "", detail = "", request_id = "" }, retryAfter = null) {
    super(detail || title || code);
    Object.assign(this, { status, code, title, detail, requestId: request_id, retryAfter });
  }

  /** The text for the user. */
  get words() {
    const known = `problem.${this.code}`;
    return knows(known) ? t(known, { detail: this.detail, seconds: this.retryAfter ?? 1 }) : told(this.detail || this.title);
  }
}

const unauthorized = new Set();
/** Register a listener for an expired login. */
export const onUnauthorized = (listener) => unauthorized.add(listener);

/** Send a request and return the response; throws a Problem on failure. */
export async function send(method, path, { body, params, headers = {}, signal, quiet = false } = {}) {
  const json = body !== undefined && !(body instanceof FormData);
  let response;
  try {
    response = await fetch(API + path + asQuery(params), {
      method,
      signal,
      headers: json ? { "Content-Type": "application/json", ...headers } : headers,
      body: json ? JSON.stringify(body) : body,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connection.lost();
    throw new Problem({});
  }
  connection.heard();
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && !quiet) for (const listener of unauthorized) listener();
  throw problem;
}

async function problemOf(response) {
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  try {
    return new Problem(await response.json(), retryAfter);
  } catch {
    const requestId = response.headers.get("X-Request-ID") ?? "";
    return new Problem({ status: response.status, code: "internal", title: response.statusText, request_id: requestId });
  }
}

/** The query string `?a=1&b=2`; null, undefined and empty values are left out, and lists are repeated. */
function asQuery(params = {}) {
  const pairs = Object.entries(params).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]));
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")).toString();
  return text && `?${text}`;
}

const json = async (method, path, options) => {
  const response = await send(method, path, options);
  return response.status === 204 ? null : response.json();
};

export const get = (path, params, options) => json("GET", path, { params, ...options });
export const post = (path, body = {}, options) => json("POST", path, { body, ...options });
export const put = (path, body, options) => json("PUT", path, { body, ...options });
export const patch = (path, body, options) => json("PATCH", path, { body, ...options });
export const remove = (path, params, options) => json("DELETE", path, { params, ...options });

/** Upload a form with files; `onProgress` gets the share sent, which fetch does not report. */
export function upload(path, form, { onProgress, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", API + path);
    request.responseType = "text";
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total);
    request.onload = () => {
      connection.heard();
      let told;
      try {
        told = JSON.parse(request.responseText);
      } catch {
        told = { status: request.status, code: "internal", title: request.statusText };
      }
      if (request.status < 300) return resolve(told);
      if (request.status === 401) for (const listener of unauthorized) listener();
      return reject(new Problem(told, Number(request.getResponseHeader("Retry-After")) || null));
    };
    request.onerror = () => {
      connection.lost();
      reject(new Problem({}));
    };
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** Yield the pages of a list. */
export async function* pages(path, params = {}, options) {
  let cursor = null;
  do {
    const page = await get(path, { ...params, cursor }, options);
    yield page.items;
    cursor = page.next_cursor;
  } while (cursor);
}
