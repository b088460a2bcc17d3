// Documents: the list, or one document.
import { useEffect } from "preact/hooks";
import { html } from "../common/html.js";
import { aside } from "../shell/sidebar.js";
import { One } from "./one.js";
import { Shelf } from "./shelf.js";
import { Tree, lookAtFolders } from "./tree.js";

export default function Documents({ rest, query, person }) {
  const [id] = rest;
  useEffect(() => {
    aside.set(() => Tree);
    lookAtFolders();
    return () => aside.set(null);
  }, []);
  return id ? html`<${One} key=${id} id=${id} query=${query} person=${person} />` : html`<${Shelf} query=${query} person=${person} />`;
}
