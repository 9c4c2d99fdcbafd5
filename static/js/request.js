// The form of a quota request: steps of whole nodes, offers that fill fields, files that are attached as they are chosen.
(() => {
  const form = document.getElementById("quota-request");
  if (!form) return;

  const steps = () => {
    const step = form.querySelector("[name=gpu_model]:checked")?.dataset.modelStep ?? "1";
    for (const name of ["guaranteed_more", "limit_more", "least_more"]) {
      const field = form.elements[name];
      if (field) field.dataset.by = step;
    }
    const hint = form.querySelector("[data-whole-nodes]");
    if (hint) hint.hidden = step === "1";
  };

  // Typed amounts need not be whole nodes, so the browser's own step stays 1; the buttons go by nodes.
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (!button) return;
    event.stopPropagation();
    const field = button.closest("[data-stepped]").querySelector("input");
    const by = Number(field.dataset.by ?? 1) * Number(button.dataset.step);
    field.value = String((Number.parseInt(field.value, 10) || 0) + by);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });

  document.addEventListener("click", (event) => {
    const offer = event.target.closest("[data-fill]");
    if (!offer) return;
    for (const name of ["guaranteed_more", "from_on", "to_on"]) {
      const value = offer.getAttribute(`data-fill-${name}`);
      if (value === null) continue;
      form.elements[name].value = value;
      form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
    }
    form.elements.guaranteed_more.focus();
  });

  const files = form.querySelector("[data-attach]");
  const attach = form.querySelector("[data-attach-send]");
  attach.hidden = true;
  files.addEventListener("change", () => {
    if (!files.files.length) return;
    delete form.dataset.dirty;
    form.requestSubmit(attach);
  });

  form.addEventListener("change", steps);
  document.addEventListener("htmx:afterSettle", steps);
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id === "consequence" && event.detail.successful) event.detail.elt.querySelector("[data-failed]").hidden = true;
  });
  steps();
})();
