// The queue: the panel follows the focused row; a approves, r refuses, c asks back; Shift A approves what is selected.
(() => {
  const PAUSE_MS = 120;
  const table = () => document.querySelector("table[data-peek]");
  const focused = () => table()?.querySelector("tr.is-focused");
  let timer = 0;

  const openPanel = () => {
    const panel = document.querySelector("#peek");
    return panel && getComputedStyle(panel.parentElement).display !== "none" ? panel : null;
  };

  const show = (row) => {
    const panel = openPanel();
    if (!panel || !row?.dataset.peekUrl || panel.dataset.shown === row.dataset.peekUrl) return;
    panel.dataset.shown = row.dataset.peekUrl;
    htmx.ajax("GET", row.dataset.peekUrl, { target: panel, swap: "innerHTML" });
  };

  const mark = (row) => {
    if (row.classList.contains("is-focused")) return;
    focused()?.classList.remove("is-focused");
    row.classList.add("is-focused");
  };

  const follow = (row) => {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE_MS, row);
  };

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest?.("table[data-peek] tr[data-peek-url]");
    if (!row) return;
    mark(row);
    follow(row);
  });
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("table[data-peek] tr[data-peek-url]");
    if (!row || event.target.closest("a, input, button")) return;
    mark(row);
    row.querySelector("a[data-open]").focus({ preventScroll: true });
  });
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.target?.id !== "peek") return;
      event.detail.target.textContent = event.detail.target.dataset.failed;
      delete event.detail.target.dataset.shown;
    });
  }

  // What the panel offers under this key comes first (hotkey.js brings it into focus): it knows more than the row does.
  const act = (key, address) => {
    const row = focused();
    const to = row?.closest("table").dataset[address];
    if (!to || document.querySelector(`#peek [data-hotkey="${key}"]`)) return false;
    location.assign(`${to}?ids=${row.dataset.seen}`);
    return true;
  };

  const keys = {
    a: () => act("a", "approve"),
    r: () => act("r", "reject"),
    c: () => act("c", "ask"),
    A: () => {
      const bar = document.querySelector('[data-bulk="approvals"]');
      if (!bar || bar.hidden) return false;
      bar.requestSubmit(bar.querySelector("[data-bulk-approve]"));
      return true;
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key] || !table()) return;
    const field = event.target.closest?.("input, select, textarea, [contenteditable], dialog[open]");
    if (field && !field.matches("[data-select], [data-select-all]")) return;
    if (keys[event.key]() !== false) event.preventDefault();
  });

  const first = () => {
    const row = table()?.querySelector("tr[data-peek-url]");
    if (row && openPanel() && !focused()) {
      mark(row);
      show(row);
    }
  };
  addEventListener("load", first);
})();
