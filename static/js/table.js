// Keyboard and selection for <table class="table-dense" data-keys>: j k move, x selects, Enter opens, Esc clears.
// Shift-click (or Shift Enter) on a head sorts by that column as well. Columns are chosen and ordered in [data-columns].
(() => {
  const rowsOf = (table) => [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden && !row.classList.contains("is-group"));
  const boxOf = (row) => row.querySelector("input[type=checkbox][data-select]");
  const current = () => document.querySelector("table[data-keys] tr.is-focused");
  let last = null;

  const focusRow = (row) => {
    current()?.classList.remove("is-focused");
    if (!row) return;
    row.classList.add("is-focused");
    row.scrollIntoView({ block: "nearest" });
    (row.querySelector("a[data-open], .is-name a, a") ?? row).focus({ preventScroll: true });
  };

  const step = (by) => {
    const table = current()?.closest("table") ?? document.querySelector("table[data-keys]");
    if (!table) return;
    const rows = rowsOf(table);
    const at = rows.indexOf(current());
    focusRow(at < 0 ? rows[0] : rows[Math.min(Math.max(at + by, 0), rows.length - 1)]);
  };

  const refresh = (table) => {
    const boxes = rowsOf(table).map(boxOf).filter(Boolean);
    const chosen = boxes.filter((box) => box.checked);
    for (const box of boxes) box.closest("tr").classList.toggle("is-selected", box.checked);
    const all = table.querySelector("[data-select-all]");
    if (all) {
      all.checked = boxes.length > 0 && chosen.length === boxes.length;
      all.indeterminate = chosen.length > 0 && !all.checked;
    }
    const bar = document.querySelector(`[data-bulk="${table.id}"]`);
    if (!bar) return;
    bar.hidden = chosen.length === 0;
    const count = bar.querySelector("[data-bulk-count]");
    if (count) count.textContent = String(chosen.length);
    for (const place of bar.querySelectorAll("[data-bulk-sum]")) {
      const figures = chosen.map((box) => Number(box.closest("tr").dataset[place.dataset.bulkSum] ?? 0));
      place.textContent = String(Math.round(10 * figures.reduce((sum, figure) => sum + figure, 0)) / 10);
    }
  };

  const clear = (table) => {
    for (const row of rowsOf(table)) if (boxOf(row)) boxOf(row).checked = false;
    refresh(table);
  };

  document.addEventListener("click", (event) => {
    const box = event.target.closest("table[data-keys] [data-select]");
    if (box) {
      const boxes = rowsOf(box.closest("table")).map(boxOf).filter(Boolean);
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      if (event.shiftKey && from >= 0) for (const other of boxes.slice(from, to + 1)) other.checked = box.checked;
      last = box;
      refresh(box.closest("table"));
      return;
    }
    const sort = event.target.closest("a.sort[data-add-href]");
    if (sort && event.shiftKey) {
      event.preventDefault();
      location.assign(sort.dataset.addHref);
    }
    const mover = event.target.closest("[data-column-move]");
    if (mover) moveColumn(mover);
    const clearer = event.target.closest("[data-bulk-clear]");
    if (clearer) clear(document.getElementById(clearer.closest("[data-bulk]").dataset.bulk));
  });

  const moveColumn = (button) => {
    const line = button.closest("li");
    const other = button.dataset.columnMove === "1" ? line.nextElementSibling : line.previousElementSibling;
    if (!other) return;
    if (button.dataset.columnMove === "1") other.after(line);
    else other.before(line);
    line.closest("form").dataset.moved = "yes";
    button.focus();
  };

  // The order of the boxes is the order of the columns: sent as one list, where boxes alone stand in the usual one.
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-columns]");
    if (!form) return;
    const boxes = [...form.querySelectorAll("input[name=columns]")];
    const chosen = boxes.filter((box) => box.checked && !box.disabled).map((box) => box.value);
    if (!chosen.length) return;
    for (const box of boxes) box.disabled = true;
    const list = document.createElement("input");
    list.type = "hidden";
    list.name = "columns";
    list.value = chosen.join(",");
    list.dataset.columnsSent = "";
    form.append(list);
  });

  // An open menu closes by Esc before anything else does.
  const closeMenu = (target) => {
    const open = target.closest?.("details.chip[open]") ?? document.querySelector("details.chip[open]");
    if (!open) return false;
    open.open = false;
    open.querySelector("summary").focus();
    return true;
  };

  document.addEventListener("change", (event) => {
    if (event.target.matches("select[data-submits]") && event.target.value) event.target.form.requestSubmit();
    const all = event.target.closest("table[data-keys] [data-select-all]");
    if (!all) return;
    for (const row of rowsOf(all.closest("table"))) if (boxOf(row)) boxOf(row).checked = all.checked;
    refresh(all.closest("table"));
  });

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    x: () => {
      const box = current() && boxOf(current());
      if (box) box.click();
    },
    Enter: (event) => {
      const row = current();
      if (!row || event.target.closest("a, button, summary")) return false;
      row.querySelector("a[data-open], .is-name a, a")?.click();
      return true;
    },
    Escape: (event) => {
      if (closeMenu(event.target)) return true;
      for (const table of document.querySelectorAll("table[data-keys]")) clear(table);
      focusRow(null);
      return false;
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    const field = event.target.closest("input, select, textarea, [contenteditable], dialog[open]");
    if (field && !field.matches("[data-select], [data-select-all]") && !(event.key === "Escape" && field.closest("details.chip"))) return;
    if (!document.querySelector("table[data-keys]")) return;
    if (keys[event.key](event) !== false) event.preventDefault();
  });

  const refreshAll = () => document.querySelectorAll("table[data-keys]").forEach(refresh);
  document.addEventListener("htmx:afterSettle", refreshAll);
  // Of many views the open one may stand beyond the edge of the tabs.
  document.querySelector(".view-strip .tab[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  for (const button of document.querySelectorAll("[data-column-move]")) button.hidden = false;
  addEventListener("pageshow", () => {
    for (const box of document.querySelectorAll("form[data-columns] input[name=columns]:disabled")) box.disabled = false;
    document.querySelectorAll("[data-columns-sent]").forEach((list) => list.remove());
    refreshAll();
  });
})();
