// Live parts say when they were last right. <… data-live-part hx-get hx-trigger="every 10s"> around a {% live_mark %},
// and any [data-live] on the page, follow the answers of htmx.
(() => {
  const marks = (element) => {
    const part = element.closest?.("[data-live-part]");
    const inside = part ? [...part.querySelectorAll("[data-live]")] : [];
    return inside.length ? inside : [...document.querySelectorAll(".top [data-live], .page-head [data-live]")];
  };
  // The organisation's zone, as everywhere on the page.
  const timeZone = document.documentElement.dataset.zone || undefined;
  const clock = (at) => at.toLocaleTimeString("en-GB", { hour12: false, timeZone });

  const fresh = (mark) => {
    mark.classList.remove("is-stale");
    const word = mark.querySelector("[data-live-word]");
    if (word?.dataset.liveWord) word.textContent = word.dataset.liveWord;
    const now = new Date();
    const time = mark.querySelector("time");
    time.dateTime = now.toISOString();
    time.textContent = clock(now);
  };

  const stale = (mark) => {
    const word = mark.querySelector("[data-live-word]");
    if (mark.classList.contains("is-stale") || !word) return;
    word.dataset.liveWord = word.textContent;
    word.textContent = mark.dataset.staleWord;
    mark.classList.add("is-stale");
  };

  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, successful } = event.detail;
    if (!elt.closest("[data-live-part]")) return;
    for (const mark of marks(elt)) successful ? fresh(mark) : stale(mark);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => marks(event.detail.elt).forEach(stale));
  }
  addEventListener("offline", () => document.querySelectorAll("[data-live]").forEach(stale));

  // Signed out, or the page is gone: reload once instead of showing an error inside a part.
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) location.reload();
  });
})();
