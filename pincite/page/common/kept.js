// What this browser remembers between visits, or for this tab. Storage may be switched off: then nothing is remembered.
function shelf(storage) {
  return {
    get(name, fallback = null) {
      try {
        const text = storage().getItem(`pincite.${name}`);
        return text === null ? fallback : JSON.parse(text);
      } catch {
        return fallback;
      }
    },
    set(name, value) {
      try {
        if (value === null) storage().removeItem(`pincite.${name}`);
        else storage().setItem(`pincite.${name}`, JSON.stringify(value));
      } catch {
        // full or switched off: the page works without
      }
    },
  };
}

export const kept = shelf(() => localStorage);
export const keptInTab = shelf(() => sessionStorage);
