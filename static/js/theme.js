// Loaded before the style sheets, so that the first paint has the right theme and rail.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

  const apply = () => {
    const stored = read("sluice-theme");
    const choice = stored === "light" || stored === "dark" ? stored : "auto";
    root.dataset.themeChoice = choice;
    root.dataset.bsTheme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
    root.dispatchEvent(new CustomEvent("sluice:theme", { bubbles: true }));
  };

  apply();
  if (read("sluice-rail") === "collapsed") root.dataset.rail = "collapsed";
  // Charts are drawn in fixed colours: paper gets the light ones.
  addEventListener("beforeprint", () => {
    root.dataset.bsTheme = "light";
    root.dispatchEvent(new CustomEvent("sluice:theme", { bubbles: true }));
  });
  addEventListener("afterprint", apply);
  system.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("sluice:theme-set", apply);
})();
