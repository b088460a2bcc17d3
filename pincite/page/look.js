// Apply the stored theme before the first paint, to avoid a flash.
(() => {
  const chosen = (name) => {
    try {
      return localStorage.getItem(`pincite.${name}`);
    } catch {
      return null; // storage may be disabled
    }
  };
  const root = document.documentElement;
  for (const name of ["theme", "contrast"]) {
    const value = chosen(name);
    if (value) root.dataset[name] = value;
  }
})();
