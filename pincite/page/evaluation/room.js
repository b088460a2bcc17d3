// Evaluation on the user's own documents: question sets, runs, and the comparison of two runs.
import { html } from "../common/html.js";
import { Overview } from "./overview.js";
import { Questions } from "./questions.js";
import { Run } from "./run.js";

export default function Evaluation({ rest, query }) {
  if (rest[0] === "sets" && rest[1]) return html`<${Questions} key=${rest[1]} id=${rest[1]} />`;
  return rest[0] ? html`<${Run} key=${`${rest[0]} ${query.get("against")}`} id=${rest[0]} against=${query.get("against")} />` : html`<${Overview} />`;
}
