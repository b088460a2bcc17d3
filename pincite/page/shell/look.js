// The menu for appearance and language, stored on this device.
import { Menu } from "../parts/menu.js";
import { html } from "../common/html.js";
import { kept } from "../common/kept.js";
import { state } from "../common/state.js";
import { LANGUAGES, language, t } from "../common/words.js";

const root = document.documentElement;
const changes = state(0);

function choose(name, value) {
  try {
    if (value) localStorage.setItem(`pincite.${name}`, value);
    else localStorage.removeItem(`pincite.${name}`);
  } catch {
    // applied, but not stored
  }
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
  changes.set((n) => n + 1);
}

function speak(code) {
  kept.set("language", code);
  location.reload();
}

export function LookMenu() {
  changes.use();
  const { theme = "", contrast = "" } = root.dataset;
  const themes = ["", "light", "dark"].map((value) => ({
    label: t(`look.theme.${value || "system"}`), checked: theme === value, onClick: () => choose("theme", value),
  }));
  const languages = Object.entries(LANGUAGES).map(([code, name]) => ({
    label: name, lang: code, checked: code === language, onClick: () => speak(code),
  }));
  const more = { label: t("look.contrast"), checked: contrast === "more", toggle: true, onClick: () => choose("contrast", contrast ? "" : "more") };
  return html`<${Menu} label=${t("look.title")} icon="look" up items=${[...themes, null, more, null, ...languages]} />`;
}
