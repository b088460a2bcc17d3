// The text of a document version, cached while the reader moves around in it.
import { useEffect, useState } from "preact/hooks";
import { post } from "../common/api.js";

const MAX_CACHED_TEXTS = 6;
const cache = new Map();

/** The normalised text of a version. */
export function contentOf(documentId, version) {
  const key = `${documentId}@${version}`;
  const content = cache.get(key) ?? post("/documents/read", { doc_id: documentId, version }).then((read) => read.content);
  cache.delete(key);
  cache.set(key, content);
  content.catch(() => cache.delete(key));
  if (cache.size > MAX_CACHED_TEXTS) cache.delete(cache.keys().next().value);
  return content;
}

/** `{content, problem}` for the version of a place; both are null while the text is loading. */
export function useContent({ documentId, version }) {
  const [content, setContent] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let left = false;
    contentOf(documentId, version).then((text) => left || setContent(text), (error) => left || setProblem(error));
    return () => (left = true);
  }, [documentId, version]);
  return { content, problem };
}
