// Toasts: good news leaves by itself, what needs an answer stays longer, warnings and errors until they are closed.
// An answer of htmx announces one in a header (kernel/toasts.py); a request that fails says what is safe and what to do.
(() => {
  const STAYS_MS = 8000;
  const STAYS_WITH_ACT_MS = 30_000;
  const area = document.querySelector("#toasts");
  if (!area) return;

  // Nobody loses a message that they are reading or about to answer.
  const leaveLater = (toast) => {
    if (toast.matches(".is-error, .is-warning")) return;
    const stays = toast.querySelector(".toast-act") ? STAYS_WITH_ACT_MS : STAYS_MS;
    let timer = 0;
    const start = () => { timer = setTimeout(() => toast.remove(), stays); };
    const hold = () => clearTimeout(timer);
    for (const name of ["pointerenter", "focusin"]) toast.addEventListener(name, hold);
    for (const name of ["pointerleave", "focusout"]) toast.addEventListener(name, start);
    start();
  };

  const token = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";

  const hidden = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });

  const actOf = (act) => {
    const look = { className: "toast-act", textContent: act.label };
    if (act.is_link) return Object.assign(document.createElement("a"), look, { href: act.url });
    const form = Object.assign(document.createElement("form"), { method: "post", action: act.url });
    const fields = { csrfmiddlewaretoken: token(), ...act.fields };
    form.append(...Object.entries(fields).map(([name, value]) => hidden(name, value)));
    form.append(Object.assign(document.createElement("button"), look, { type: "submit" }));
    return form;
  };

  const show = ({ kind = "success", text, act }) => {
    const same = [...area.querySelectorAll("[data-toast-text]")].find((place) => place.textContent === text);
    if (!text || same) return;
    const isBad = kind === "error" || kind === "warning";
    const blank = document.querySelector(`template[data-toast-new="${isBad ? "error" : "success"}"]`);
    const toast = blank.content.firstElementChild.cloneNode(true);
    toast.querySelector("[data-toast-text]").textContent = text;
    if (act) toast.querySelector("[data-toast-close]").before(actOf(act));
    area.append(toast);
    leaveLater(toast);
  };

  const reload = () => ({ label: area.dataset.wordReload, url: location.href, is_link: true });

  // A live part says itself that it is not current; a toast each ten seconds would be noise.
  const isPolled = (element) => Boolean(element?.closest?.("[data-live-part]"));

  const failed = (event) => {
    const { elt, xhr, requestConfig } = event.detail;
    if (isPolled(elt) || xhr?.status === 401 || xhr?.getResponseHeader("HX-Trigger")) return;
    const words = area.dataset;
    if (!xhr?.status) {
      const isRead = (requestConfig?.verb ?? "get") === "get";
      show({ kind: "error", text: isRead ? words.whenOffline : words.whenUnsure, act: reload() });
      return;
    }
    const usual = xhr.status >= 500 ? words.whenBroken : words.whenRefused;
    const text = area.getAttribute(`data-when-${xhr.status}`) ?? usual;
    show({ kind: "error", text, act: [404, 409].includes(xhr.status) ? reload() : undefined });
  };

  document.addEventListener("click", (event) => event.target.closest("[data-toast-close]")?.closest("[data-toast]").remove());
  document.addEventListener("sluice:toast", (event) => {
    if (event.detail.kind !== "error" || !isPolled(event.target)) show(event.detail);
  });
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) document.addEventListener(name, failed);
  for (const toast of area.querySelectorAll("[data-toast]")) leaveLater(toast);

  // A part that says so with class="loads" is dimmed after 150 ms; who cannot see that is told.
  const mark = (isBusy) => (event) => {
    const part = event.detail.target?.closest?.(".loads");
    if (part) isBusy ? part.setAttribute("aria-busy", "true") : part.removeAttribute("aria-busy");
  };
  document.addEventListener("htmx:beforeRequest", mark(true));
  document.addEventListener("htmx:afterRequest", mark(false));
})();
