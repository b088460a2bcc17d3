// How the page looks, as chosen on this device: set before anything is drawn, so that nothing flashes.
(() => {
  const chosen = (name) => {
    try {
      return localStorage.getItem(`pincite.${name}`);
    } catch {
      return null; // storage may be switched off
    }
  };
  const root = document.documentElement;
  for (const name of ["theme", "contrast"]) {
    const value = chosen(name);
    if (value) root.dataset[name] = value;
  }
})();
