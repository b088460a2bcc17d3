// Traces: the list, or one trace with its stages.
import { html } from "../common/html.js";
import { List } from "./list.js";
import { Trace } from "./trace.js";

export default function Traces({ rest, query, person }) {
  return rest[0] ? html`<${Trace} key=${rest[0]} id=${rest[0]} person=${person} />` : html`<${List} query=${query} person=${person} />`;
}
