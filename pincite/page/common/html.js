// `html` templates for preact; interpolated text is escaped.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
