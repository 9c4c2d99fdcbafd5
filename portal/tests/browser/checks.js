// What a page must be, whatever it shows. Each function gives sentences, one for each fault; none is good.
window.sluiceChecks = {
  // Which element is too wide, so that whoever reads a failure need not look for it.
  overflow() {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const scrolls = (element) => {
      for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== "visible") return true;
      }
      return false;
    };
    const wide = [...document.querySelectorAll("body *")].filter(
      (element) => element.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(element),
    );
    const names = wide.slice(-3).map((element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`);
    return [`${root.scrollWidth} wide at ${root.clientWidth}: ${names.join(", ")}`];
  },

  // What is like its neighbours is not looked at again: pages of 300 rows would take a minute. Of rows, those with the
  // same parts stay once, whatever their place, and as many as tell the kinds apart.
  trim() {
    const alike = ".sample-grid li:nth-child(n+9), .sample:nth-child(n+4) .sample-code, .heat-rack:nth-child(n+3)";
    for (const element of document.querySelectorAll(alike)) element.remove();
    const most = 6;
    for (const list of document.querySelectorAll("tbody, .rows")) {
      const kinds = new Set();
      for (const row of [...list.children]) {
        const kind = [row, ...row.querySelectorAll("*")].map((part) => `${part.tagName}${part.getAttribute("class")}`).join(" ");
        if (kinds.has(kind) || kinds.size === most) row.remove();
        else kinds.add(kind);
      }
    }
    return [];
  },

  // One text of each kind: what has the same tags, classes and states all the way up has the same colours.
  texts(frame) {
    const kinds = new Map();
    const kindOf = (element) => {
      const states = [...element.attributes].filter(({ name }) => /^(class|type|disabled|open|hidden|aria-(?!label|controls|describedby).*)$/.test(name));
      return element.tagName + states.map(({ name, value }) => `${name}=${value}`).join(";");
    };
    const upTo = (element) => (element === document.body ? "" : `${upTo(element.parentElement)} ${kindOf(element)}`);
    const hasText = (element) => element.matches("input, select, textarea") || [...element.childNodes].some((part) => part.nodeType === Node.TEXT_NODE && part.data.trim());
    for (const element of document.querySelectorAll("body *")) {
      if (!hasText(element) || !element.checkVisibility() || (frame && element.closest(frame))) continue;
      const kind = upTo(element);
      if (!kinds.has(kind)) kinds.set(kind, element);
    }
    return [...kinds.values()];
  },

  headings() {
    const faults = [];
    const shown = [...document.querySelectorAll("h1, h2, h3, h4")].filter((head) => head.checkVisibility());
    const firsts = shown.filter((head) => head.tagName === "H1").length;
    if (firsts !== 1) faults.push(`${firsts} headings of the first level`);
    let last = 1;
    for (const head of shown) {
      const level = Number(head.tagName[1]);
      if (level > last + 1) faults.push(`${head.tagName} after H${last}: ${head.textContent.trim().slice(0, 60)}`);
      last = level;
    }
    return faults;
  },

  // The first stop of the keyboard leads past the frame, into the content.
  skip() {
    const first = document.activeElement;
    const target = first?.getAttribute?.("href");
    return first?.matches?.("a.skip") && document.querySelector(target) ? [] : [`the first stop is ${first?.outerHTML.slice(0, 80)}`];
  },

  // After a key was pressed a focused element matches :focus-visible; it has to look different then. One of each kind.
  focus() {
    document.activeElement?.blur();
    const faults = [];
    const seen = new Set();
    const look = (element) => {
      const style = getComputedStyle(element);
      return [style.outlineStyle, style.outlineWidth, style.outlineColor, style.boxShadow, style.borderColor].join("|");
    };
    const stops = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']");
    for (const element of stops) {
      const kind = `${element.tagName} ${element.getAttribute("class")} ${element.type ?? ""} ${element.parentElement.className}`;
      if (seen.has(kind) || element.disabled || !element.checkVisibility()) continue;
      seen.add(kind);
      const before = look(element);
      element.focus({ preventScroll: true });
      if (document.activeElement === element && look(element) === before) faults.push(`no focus to be seen: ${element.outerHTML.slice(0, 120)}`);
      element.blur();
    }
    return faults;
  },

  // Dialogs are alike: one for each page.
  links() {
    const asked = document.querySelector("a[data-confirm][href^='/']");
    const links = document.querySelectorAll("a[href^='/']:not([download], [data-confirm])");
    return [...links, ...(asked ? [asked] : [])].map((link) => link.getAttribute("href"));
  },
};
