// Markdown rendering: the only place where text becomes HTML, always sanitized by DOMPurify.
//
// Spans to highlight are given as offsets. They are inserted as rare bracket characters, and become elements after the
// HTML is sanitized. So a span may cross any structure, and no text can forge one.
import { Marked } from "../vendor/marked.mjs";
import DOMPurify from "../vendor/dompurify.mjs";
import { unitsOf } from "./points.js";

const [OPEN, CLOSE, POINT, END] = ["\u2e55", "\u2e56", "\u2e57", "\u2e58"]; // square brackets with a stroke
const SENTINELS = /[\u2e55-\u2e58]/g;
const SENTINEL = /([\u2e55\u2e56\u2e57])(\d+)\u2e58/g;
const NUMBERED = /^\[(?:Source )?(\d{1,3})\](?![[(:])/;
const LEADING = /^(?:\s*(?:[>|]|#{1,6}(?=\s)|[*+-](?=\s)|\d{1,9}[.)](?=\s)))*\s*/;
const ORDERED = /^ {0,3}(\d{1,9})[.)](?=\s)/;
const TRAILING = /[\s|]*$/;

const TAGS = "p br hr strong em del code pre ul ol li h2 h3 h4 h5 h6 blockquote table thead tbody tr th td a span sup sub".split(" ");
const SAFE = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "rel", "target", "start", "align", "class", "data-number"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ADD_URI_SAFE_ATTR: ["rel", "target", "start", "align", "class", "data-number"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const escaped = (text) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const numbered = {
  name: "numbered",
  level: "inline",
  start: (text) => text.indexOf("["),
  tokenizer(text) {
    const found = NUMBERED.exec(text);
    return found ? { type: "numbered", raw: found[0], number: found[1] } : undefined;
  },
  renderer: ({ number }) => `<span class="cite" data-number="${number}">${number}</span>`,
};

const renderer = {
  html: ({ text }) => escaped(text),
  image: ({ text }) => escaped(text),
  heading({ tokens, depth }) {
    const level = Math.min(6, depth + 2);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
  },
  link({ href, tokens }) {
    return `<a href="${escaped(href)}" rel="noopener noreferrer nofollow" target="_blank">${this.parser.parseInline(tokens)}</a>`;
  },
  checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
};

/**
 * Whether a line that starts with a number and a full stop is not a list item, such as `61000. Department` or `14. Juni`.
 * A list starts with 0 or 1, or an adjacent number starts another line.
 */
function isSentence(text, before = "") {
  const number = Number(ORDERED.exec(text)?.[1] ?? 0);
  const hasItem = (where, item) => new RegExp(`^ *${item}[.)]\\s`, "m").test(where);
  return number > 1 && !hasItem(text, number + 1) && !hasItem(before, number - 1);
}

// `undefined` means that no list starts here, `false` leaves it to the default.
const tokenizer = { list: (text) => (isSentence(text) ? undefined : false) };

const plain = new Marked({ gfm: true, async: false, renderer, tokenizer });
const broken = new Marked({ gfm: true, async: false, renderer, tokenizer, breaks: true });
const citing = new Marked({ gfm: true, async: false, renderer, tokenizer, extensions: [numbered] });

/**
 * Render Markdown to a fragment. `spans` are `{start, end, make}` in code points; `make(number)` returns the element that
 * wraps each part of a span or, with `replace`, replaces it.
 * With `cites`, `[1]` and `[Source 1]` become citation marks by their number. With `breaks`, every line break is kept.
 */
export function rendered(text, { spans = [], cites = false, breaks = false } = {}) {
  const source = withSentinels(text.replace(SENTINELS, "\ufffd"), spans);
  const fragment = DOMPurify.sanitize((cites ? citing : breaks ? broken : plain).parse(source), SAFE);
  for (const element of fragment.querySelectorAll("[class]")) if (element.className !== "cite") element.removeAttribute("class");
  for (const pre of fragment.querySelectorAll("pre")) pre.tabIndex = 0; // it is scrollable
  for (const table of fragment.querySelectorAll("table")) framed(table);
  place(fragment, spans);
  return fragment;
}

function framed(table) {
  const frame = document.createElement("div");
  frame.className = "table";
  frame.tabIndex = 0;
  table.replaceWith(frame);
  frame.append(table);
}

/** Insert numbered brackets where spans start and end, after the Markdown syntax at the start of a line. */
function withSentinels(text, spans) {
  const unit = unitsOf(text);
  const cuts = spans.flatMap((span, number) => {
    let [start, end] = [unit(span.start), unit(span.end)];
    if (span.replace) return [{ at: start, until: end, text: `${POINT}${number}${END}`, order: 1 }];
    const beginsLine = start === 0 || text[start - 1] === "\n" || /^\s*\|/.test(text.slice(start, start + 8));
    if (beginsLine && !isSentence(text.slice(start), text.slice(0, start))) start += LEADING.exec(text.slice(start, end))[0].length;
    end -= TRAILING.exec(text.slice(start, end))[0].length;
    if (end <= start) return [];
    return [{ at: start, until: start, text: `${OPEN}${number}${END}`, order: 2 }, { at: end, until: end, text: `${CLOSE}${number}${END}`, order: 0 }];
  });
  cuts.sort((one, two) => one.at - two.at || one.order - two.order);
  let [made, from] = ["", 0];
  for (const cut of cuts) {
    if (cut.at < from) continue; // inside a replaced span
    made += text.slice(from, cut.at) + cut.text;
    from = cut.until;
  }
  return made + text.slice(from);
}

/** Replace the brackets by elements, in sanitized HTML. */
function place(root, spans) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const open = new Set();
  for (const node of nodes) {
    if (!open.size && !/[\u2e55-\u2e57]/.test(node.data)) continue;
    node.replaceWith(...pieces(node.data, open, spans));
  }
}

function pieces(text, open, spans) {
  const made = [];
  const say = (part) => {
    if (!part) return;
    const around = [...open].at(-1);
    const piece = document.createTextNode(part);
    if (around === undefined || !part.trim()) return void made.push(piece);
    const element = spans[around].make(around);
    element.append(piece);
    made.push(element);
  };
  let from = 0;
  for (const found of text.matchAll(SENTINEL)) {
    say(text.slice(from, found.index));
    from = found.index + found[0].length;
    const number = Number(found[2]);
    if (found[1] === OPEN) open.add(number);
    else if (found[1] === CLOSE) open.delete(number);
    else made.push(spans[number].make(number));
  }
  say(text.slice(from));
  return made;
}
