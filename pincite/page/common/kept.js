// Values in local and session storage; if storage is disabled, nothing is stored.
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
        // full or disabled: the page works without it
      }
    },
  };
}

export const kept = shelf(() => localStorage);
export const keptInTab = shelf(() => sessionStorage);
