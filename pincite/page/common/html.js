// Markup in scripts: `html` makes what preact draws. Text in it is text, never markup.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
