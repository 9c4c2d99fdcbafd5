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

  // What is like its neighbours is not looked at again: pages of 300 rows would take a minute.
  trim() {
    const alike = "tbody tr:nth-child(n+7), .rows > li:nth-child(n+7), .sample-grid li:nth-child(n+9), .sample:nth-child(n+4) .sample-code, .heat-rack:nth-child(n+3)";
    for (const element of document.querySelectorAll(alike)) element.remove();
    return [];
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
