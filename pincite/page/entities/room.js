// Entities of the knowledge graph: the list with its search, or one entity.
import { html } from "../common/html.js";
import { Entity } from "./entity.js";
import { List } from "./list.js";

export default function Entities({ rest, query, person }) {
  return rest[0] ? html`<${Entity} key=${rest[0]} id=${rest[0]} />` : html`<${List} query=${query} person=${person} />`;
}
