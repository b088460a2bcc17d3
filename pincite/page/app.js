// Entry point: load the texts and the session, then draw the frame.
import { render } from "preact";
import { loadTold } from "./common/told.js";
import { loadWords } from "./common/words.js";
import { html } from "./common/html.js";
import { Frame } from "./shell/frame.js";
import { session } from "./shell/session.js";

await Promise.all([loadWords().then(loadTold), session.load()]);
render(html`<${Frame} />`, document.getElementById("page"));
