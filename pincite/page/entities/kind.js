// The type of an entity, as a badge with its colour; nothing where it has no definite type.
import { html } from "../common/html.js";
import { t } from "../common/words.js";

export const Kind = ({ name }) => name !== "other" && html`<span class="badge entity-kind"><i class=${`dot ${name}`} aria-hidden="true"></i>${t(`entities.type.${name}`)}</span>`;
