// Forms: rows that are added and removed, − and + beside a number, one sending per click, a warning before text is lost.
(() => {
  const totalOf = (set) => set.querySelector(`[name="${set.dataset.rowSet}-TOTAL_FORMS"]`);

  const add = (set) => {
    const total = totalOf(set);
    const markup = set.querySelector("template[data-row-empty]").innerHTML.replaceAll("__prefix__", total.value);
    const holder = document.createElement("template");
    holder.innerHTML = markup;
    const row = holder.content.firstElementChild;
    set.querySelector("[data-rows]").append(row);
    total.value = String(Number(total.value) + 1);
    ready(row);
    row.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  };

  // A row stays in the form, marked as deleted, so that the numbers of the others remain right.
  const remove = (row) => {
    const mark = row.querySelector("input[name$='-DELETE']");
    if (mark) {
      mark.checked = true;
      row.hidden = true;
      for (const field of row.querySelectorAll("[required]")) field.required = false;
    } else {
      for (const field of row.querySelectorAll("input:not([type=hidden]), select, textarea")) field.value = "";
      row.hidden = true;
    }
    row.closest("[data-row-set]").querySelector("[data-row-add]")?.focus();
    row.dispatchEvent(new Event("change", { bubbles: true }));
  };

  const ready = (scope) => {
    for (const button of scope.querySelectorAll("[data-row-remove], [data-row-add]")) button.classList.add("is-ready");
    for (const mark of scope.querySelectorAll("[data-row] input[name$='-DELETE']")) if (mark.checked) mark.closest("[data-row]").hidden = true;
  };

  document.addEventListener("click", (event) => {
    const adder = event.target.closest("[data-row-add]");
    if (adder) add(adder.closest("[data-row-set]"));
    const remover = event.target.closest("[data-row-remove]");
    if (remover) remove(remover.closest("[data-row]"));
    const stepper = event.target.closest("[data-step]");
    if (stepper) {
      const field = stepper.closest("[data-stepped]").querySelector("input");
      Number(stepper.dataset.step) > 0 ? field.stepUp() : field.stepDown();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-guard]");
    if (form) form.dataset.dirty = "yes";
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    delete form.dataset.dirty;
    if (!form.hasAttribute("data-once")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });

  addEventListener("beforeunload", (event) => {
    if (document.querySelector("form[data-guard][data-dirty]")) event.preventDefault();
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
  // A part beside the form that could not be loaded says so; the next change tries again.
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      const line = event.detail.elt.querySelector?.("[data-failed]");
      if (!line) return;
      line.hidden = false;
      event.detail.elt.querySelector("[data-consequence-wait]")?.remove();
    });
  }
  document.querySelector("[data-faults]")?.focus();
  document.addEventListener("htmx:afterSettle", (event) => ready(event.target));
  ready(document);
})();
