// Full-text search over the sections of all pages, in the browser: every word must occur, headings count most.
const input = document.getElementById("query");
const list = document.getElementById("results");
const menu = document.querySelector(".menu");
const MAX_RESULTS = 12;
const SNIPPET = 140;
const LAST = new Set(["changelog.html", "seeds.html"]); // they name everything; guides come first

if (window.matchMedia("(max-width: 50rem)").matches) menu.open = false;

const entries = window.SEARCH_INDEX.map((entry) => ({
  ...entry,
  title: entry.t.toLowerCase(),
  heading: entry.h.toLowerCase(),
  text: entry.x.toLowerCase(),
}));

function score(entry, words) {
  let sum = 0;
  for (const word of words) {
    const count = entry.text.split(word).length - 1;
    const found = 8 * entry.heading.includes(word) + 4 * entry.title.includes(word) + Math.min(count, 5);
    if (!found) return 0;
    sum += found;
  }
  return LAST.has(entry.p) ? sum / 10 : sum;
}

function snippet(entry, words) {
  const at = Math.max(0, Math.min(...words.map((word) => entry.text.indexOf(word)).filter((n) => n >= 0), entry.text.length) - 40);
  return entry.x.slice(at, at + SNIPPET);
}

function marked(text, words) {
  const box = document.createElement("small");
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  for (const [n, part] of text.split(pattern).entries()) {
    const node = n % 2 ? document.createElement("mark") : document.createTextNode(part);
    if (n % 2) node.textContent = part;
    box.append(node);
  }
  return box;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.replaceChildren();
  list.hidden = !words.length;
  if (!words.length) return;
  const found = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points);
  found.sort((a, b) => b[0] - a[0]);
  for (const [, entry] of found.slice(0, MAX_RESULTS)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${entry.p}#${entry.a}`;
    link.append(entry.h === entry.t ? entry.t : `${entry.t} › ${entry.h}`, marked(snippet(entry, words), words));
    link.addEventListener("click", () => { list.hidden = true; });
    item.append(link);
    list.append(item);
  }
  if (!found.length) {
    const item = document.createElement("li");
    item.textContent = "Nothing found.";
    list.append(item);
  }
}

input.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") list.hidden = true;
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = [...list.querySelectorAll("a")];
  if (list.hidden || !links.length) return;
  const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  (links[next] || (next < 0 ? input : links[0])).focus();
  event.preventDefault();
});
