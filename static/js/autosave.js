// <form data-autosave="…">: what stands in the fields is saved while one types, raw, and can be gone on with elsewhere.
// The server compares versions: of two pages that save the same form the later one is told, and asks.
(() => {
  const PAUSE_MS = 800;
  const RETRY_MS = 5000;
  const MOST_KEPT_ALIVE = 60000; // Browsers refuse a longer body of a request that outlives its page.
  const timeZone = document.documentElement.dataset.zone || undefined;
  const clock = (at) => at.toLocaleTimeString("en-GB", { hour12: false, timeZone });
  const isKept = (field) =>
    field.name && !field.name.startsWith("_") && !field.disabled && !["password", "file", "submit", "button"].includes(field.type) && field.name !== "csrfmiddlewaretoken";

  const start = (form) => {
    const own = (name) => form.querySelector(`[name="${name}"]`);
    const status = form.querySelector("[data-autosave-status]");
    const conflict = form.querySelector("[data-autosave-conflict]");
    let timer = 0;
    let isSending = false;
    let isDirty = false;
    let isStopped = false;
    let there = 0; // Version of what another page has saved, once we know of it.
    own("_writer").value ||= crypto.randomUUID?.() ?? String(Math.random()).slice(2);

    const say = (word, more = "") => {
      status.textContent = `${status.dataset[word] ?? word} ${more}`.trim();
      const isAmiss = word !== "saved";
      status.classList.toggle("is-amiss", isAmiss);
      // Leaving asks only while something would be lost (static/js/form.js).
      form.toggleAttribute("data-guard", isAmiss);
      if (isAmiss) form.dataset.dirty = "yes";
      else delete form.dataset.dirty;
    };

    // Whoever signed in again in another tab has a new token, which this page was not rendered with.
    const token = () => {
      const now = document.cookie.match(/(?:^|; )[^=;]*csrftoken=([^;]+)/)?.[1];
      if (now) own("csrfmiddlewaretoken").value = now;
      return own("csrfmiddlewaretoken").value;
    };

    const typed = () => {
      const data = {};
      for (const field of form.elements) {
        if (!isKept(field) || (["checkbox", "radio"].includes(field.type) && !field.checked)) continue;
        const values = field.multiple ? [...field.selectedOptions].map((option) => option.value) : [field.value];
        data[field.name] = [...(data[field.name] ?? []), ...values];
      }
      return {
        form: form.dataset.autosaveForm, subject: form.dataset.autosaveSubject, seen: own("seen")?.value ?? "",
        version: Number(own("_version").value), writer: own("_writer").value, data,
      };
    };

    const answers = {
      200: (answer) => {
        own("_version").value = String(answer.version);
        form.toggleAttribute("data-unsaved", isDirty);
        say("saved", clock(new Date(answer.saved_at)));
      },
      403: () => { isDirty = true; say("signedOut"); }, // The session went, and the page's token with it.
      404: () => { isStopped = true; say("gone"); },
      409: (answer) => {
        if (!answer.version) return say(answer.message);
        isStopped = true;
        there = answer.version;
        const at = conflict.querySelector("time");
        at.dateTime = answer.saved_at;
        at.textContent = clock(new Date(answer.saved_at));
        conflict.hidden = false;
        conflict.scrollIntoView({ block: "center" });
        say("elsewhere");
      },
    };

    const later = (wait) => {
      clearTimeout(timer);
      timer = setTimeout(save, wait);
    };

    const save = async () => {
      clearTimeout(timer);
      if (isStopped || form.dataset.sent) return;
      if (isSending) return later(PAUSE_MS);
      isSending = true;
      isDirty = false;
      const body = JSON.stringify(typed());
      try {
        const answer = await fetch(form.dataset.autosave, {
          method: "POST", body, credentials: "same-origin", redirect: "manual", keepalive: document.visibilityState === "hidden" && body.length < MOST_KEPT_ALIVE,
          headers: { "Content-Type": "application/json", "X-CSRFToken": token() },
        });
        if (answer.type === "opaqueredirect") {
          isDirty = true;
          say("signedOut");
        } else if (answer.status >= 500) {
          throw new Error(String(answer.status));
        } else {
          const said = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : {};
          (answers[answer.status] ?? (() => say(said.message ?? "offline")))(said);
        }
      } catch {
        isDirty = true;
        say("offline");
        later(RETRY_MS);
      }
      isSending = false;
    };

    const changed = () => {
      isDirty = true;
      form.toggleAttribute("data-unsaved", true);
      if (isStopped) return;
      later(PAUSE_MS);
    };

    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.addEventListener("submit", () => { clearTimeout(timer); token(); });
    addEventListener("pagehide", () => { if (isDirty) save(); });
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden" && isDirty) save(); });
    addEventListener("online", () => { if (isDirty) save(); });
    form.querySelector("[data-autosave-load]")?.addEventListener("click", () => { delete form.dataset.dirty; });
    form.querySelector("[data-autosave-force]")?.addEventListener("click", () => {
      own("_version").value = String(there);
      conflict.hidden = true;
      isStopped = false;
      save();
    });
  };

  for (const form of document.querySelectorAll("form[data-autosave]")) start(form);
})();
