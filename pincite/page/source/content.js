// A version's text, fetched once and remembered while one looks around in it.
import { post } from "../common/api.js";

const MOST = 6;
const known = new Map();

/** The whole normalised text of a version. */
export function contentOf(documentId, version) {
  const key = `${documentId}@${version}`;
  const found = known.get(key) ?? post("/documents/read", { doc_id: documentId, version }).then(({ content }) => content);
  known.delete(key);
  known.set(key, found);
  found.catch(() => known.delete(key));
  if (known.size > MOST) known.delete(known.keys().next().value);
  return found;
}
