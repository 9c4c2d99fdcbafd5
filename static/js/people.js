// <input data-people list="…">: whom the letters typed so far may mean, from the address of its datalist.
(() => {
  const PAUSE_MS = 250;
  const LEAST = 2;
  let timer = 0;
  let asked = "";

  const find = async (field) => {
    const list = document.getElementById(field.getAttribute("list"));
    const words = field.value.trim();
    if (!list || words.length < LEAST || words === asked) return;
    asked = words;
    try {
      const answer = await fetch(`${list.dataset.peopleUrl}?page_size=10&q=${encodeURIComponent(words)}`, { credentials: "same-origin" });
      if (!answer.ok || asked !== words) return;
      const { results } = await answer.json();
      list.replaceChildren(...results.map((person) => new Option(person.display_name || person.username, person.username)));
    } catch {
      // Without suggestions the user name is typed in full; the form says when nobody has it.
    }
  };

  document.addEventListener("input", (event) => {
    if (!event.target.matches?.("[data-people]")) return;
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE_MS, event.target);
  });
})();
