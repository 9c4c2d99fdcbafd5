// <a data-confirm href="…">: opens what that page would show as a dialog. Without this script the link leads to the page.
// <button data-confirm="#id">: opens a dialog that is already on the page.
(() => {
  const shared = () => document.querySelector("#confirm-dialog");

  const showLoaded = async (link) => {
    const dialog = shared();
    try {
      const answer = await fetch(link.href, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
      if (!answer.ok || answer.redirected) {
        location.assign(link.href);
        return;
      }
      dialog.innerHTML = await answer.text();
    } catch {
      const line = document.createElement("p");
      line.textContent = dialog.dataset.failed;
      const frame = document.createElement("div");
      frame.className = "confirm";
      frame.append(line);
      dialog.replaceChildren(frame);
    }
    dialog.showModal();
    dialog.querySelector("input:not([type=hidden]), select, textarea, button[type=submit]")?.focus();
  };

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-confirm]");
    if (opener && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const id = opener.dataset.confirm;
      if (id.startsWith("#")) document.querySelector(id)?.showModal();
      else showLoaded(opener);
      return;
    }
    const closer = event.target.closest("dialog [data-dialog-close]");
    if (closer) {
      event.preventDefault();
      closer.closest("dialog").close();
    } else if (event.target.matches?.("dialog.dialog")) {
      event.target.close(); // a click on the backdrop
    }
  });

  // Asked once: a second click on the same answer sends nothing.
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form.confirm[method=post]");
    if (!form) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form.confirm[data-sent]")) delete form.dataset.sent;
  });
})();
