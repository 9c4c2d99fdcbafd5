// A key brings its button into focus, Enter then presses it: <button data-hotkey="a">. data-hotkey-first names a field that
// must be filled before; while it is empty, the key goes there.
(() => {
  const isTyping = (target) => target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const button = document.querySelector(`[data-hotkey="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!button) return;
    const first = button.dataset.hotkeyFirst && document.querySelector(button.dataset.hotkeyFirst);
    event.preventDefault();
    (first && !first.value.trim() ? first : button).focus();
  });
})();
