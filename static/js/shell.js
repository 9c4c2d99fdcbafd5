// The frame: rail, drawer, theme choice, search by key, the list of keys.
(() => {
  const root = document.documentElement;
  const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private window: not remembered */ } };
  const isTyping = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], dialog[open]");

  const markTheme = () => {
    for (const button of document.querySelectorAll("[data-theme-set]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeSet === root.dataset.themeChoice));
    }
  };

  const setDrawer = (isOpen) => {
    root.dataset.drawer = isOpen ? "open" : "";
    const toggle = document.querySelector("[data-drawer-toggle]");
    toggle?.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) document.querySelector("#rail .rail-item")?.focus();
  };

  const acts = {
    "[data-theme-set]": (button) => {
      keep("sluice-theme", button.dataset.themeSet);
      dispatchEvent(new Event("sluice:theme-set"));
      markTheme();
      button.closest("[popover]")?.hidePopover?.();
    },
    "[data-rail-toggle]": () => {
      const isCollapsed = root.dataset.rail !== "collapsed";
      root.dataset.rail = isCollapsed ? "collapsed" : "";
      keep("sluice-rail", isCollapsed ? "collapsed" : "");
    },
    "[data-drawer-toggle]": (link, event) => {
      event.preventDefault();
      setDrawer(root.dataset.drawer !== "open");
    },
    "[data-keys-help]": (button) => {
      button.closest("[popover]")?.hidePopover?.();
      document.querySelector("#keys-dialog")?.showModal();
    },
  };

  document.addEventListener("click", (event) => {
    for (const [selector, act] of Object.entries(acts)) {
      const found = event.target.closest(selector);
      if (found) return act(found, event);
    }
    if (root.dataset.drawer === "open" && !event.target.closest("#rail")) setDrawer(false);
    for (const open of document.querySelectorAll("details.chip[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });

  document.addEventListener("keydown", (event) => {
    const search = document.querySelector("[data-search]");
    const isSearchKey = (event.key === "/" && !isTyping(event.target)) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
    if (isSearchKey && search) {
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "?" && !isTyping(event.target)) {
      document.querySelector("#keys-dialog")?.showModal();
    } else if (event.key === "Escape") {
      if (root.dataset.drawer === "open") {
        setDrawer(false);
        document.querySelector("[data-drawer-toggle]")?.focus();
      }
      if (event.target === search) search.blur();
    }
  });

  markTheme();
})();
