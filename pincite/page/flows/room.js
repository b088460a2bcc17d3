// Stored flows: the list, and one flow with its nodes, its versions and the form that runs it.
import { html } from "../common/html.js";
import { Listing } from "./listing.js";
import { One } from "./one.js";

export default function Flows({ rest, query }) {
  return rest[0] ? html`<${One} key=${`${rest[0]} ${query.get("version")}`} name=${rest[0]} version=${query.get("version")} />` : html`<${Listing} />`;
}
