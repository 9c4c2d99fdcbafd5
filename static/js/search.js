// The search field of the frame: results as one types, arrow keys and Enter, and without words what was opened lately.
// Without this script the field leads to the page of results. Texts come from the list's data- attributes.
(() => {
  const field = document.querySelector("[data-search]");
  const list = document.querySelector("[data-search-list]");
  if (!field || !list) return;

  const KEY = `sluice-recent-${list.dataset.person}`;
  const MOST = 6;
  const PAUSE = 120;
  // Pages of one thing: /projects/7, /jobs/12, /cluster/nodes/3, /people/5.
  const ONE = /^\/(projects|jobs|cluster\/nodes|people)\/\d+\/?$/;
  let timer = 0;
  let asked = 0;
  let at = -1;

  const recent = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
      return Array.isArray(kept) ? kept.filter((row) => ONE.test(row.url) && typeof row.name === "string") : [];
    } catch {
      return [];
    }
  };

  const remember = () => {
    const name = document.querySelector(".page-head h1")?.textContent.trim();
    if (!ONE.test(location.pathname) || !name) return;
    const rows = [{ url: location.pathname, name }, ...recent().filter((row) => row.url !== location.pathname)];
    try {
      localStorage.setItem(KEY, JSON.stringify(rows.slice(0, MOST)));
    } catch { /* private window: not remembered */ }
  };

  const options = () => [...list.querySelectorAll("[role=option]")];

  const mark = (index) => {
    const rows = options();
    at = rows.length && index !== null ? (index + rows.length) % rows.length : -1;
    for (const [place, row] of rows.entries()) row.setAttribute("aria-selected", String(place === at));
    if (at < 0) field.removeAttribute("aria-activedescendant");
    else {
      field.setAttribute("aria-activedescendant", rows[at].id);
      rows[at].scrollIntoView({ block: "nearest" });
    }
  };

  const open = () => {
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  };

  const close = () => {
    list.hidden = true;
    at = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };

  const recentGroup = () => {
    const rows = recent().filter((row) => row.url !== location.pathname);
    if (!rows.length) return null;
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", list.dataset.recent);
    const head = document.createElement("div");
    head.className = "hits-head";
    head.textContent = list.dataset.recent;
    group.append(head);
    rows.forEach((row, index) => {
      const link = document.createElement("a");
      link.className = "hit";
      link.href = row.url;
      link.id = `hit-recent-${index}`;
      link.tabIndex = -1;
      link.setAttribute("role", "option");
      const name = document.createElement("span");
      name.className = "hit-name";
      name.textContent = row.name;
      link.append(name);
      group.append(link);
    });
    return group;
  };

  const show = async () => {
    const words = field.value.trim();
    const turn = (asked += 1);
    try {
      const answer = await fetch(`${list.dataset.url}?as=list&q=${encodeURIComponent(words)}`, { credentials: "same-origin" });
      if (turn !== asked) return; // a later one is on its way
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      list.innerHTML = await answer.text();
    } catch {
      if (turn !== asked) return;
      const line = document.createElement("p");
      line.className = "help hits-none";
      line.textContent = list.dataset.failed;
      list.replaceChildren(line);
    }
    const lately = words ? null : recentGroup();
    if (lately) list.prepend(lately);
    open();
    mark(words ? 0 : null);
  };

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  };

  field.addEventListener("input", later);
  field.addEventListener("focus", later);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return; // Enter that ends an input method's word opens nothing
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) show();
      else if (event.key === "ArrowDown") mark(at + 1);
      else mark(at < 0 ? -1 : at - 1);
    } else if (event.key === "Enter" && !list.hidden && at >= 0) {
      event.preventDefault();
      options()[at].click();
    } else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") close();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) close();
  });
  remember();
})();
