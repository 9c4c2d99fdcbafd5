// The decision page: ← → (or k, j) lead to the one before and after; a typed comment goes along into a dialog that asks.
(() => {
  const KEYS = { ArrowLeft: "before", k: "before", ArrowRight: "after", j: "after" };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !KEYS[event.key]) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable], dialog[open], .table-scroll")) return;
    const link = document.querySelector(`[data-go="${KEYS[event.key]}"]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  const dialog = document.querySelector("#confirm-dialog");
  const comment = document.querySelector("#id_comment");
  if (!dialog || !comment) return;
  new MutationObserver(() => {
    const copy = dialog.querySelector("[data-comment-copy]");
    if (copy && !copy.value) copy.value = comment.value;
  }).observe(dialog, { childList: true });
})();
