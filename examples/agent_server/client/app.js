const ask = async (path, options) => (await fetch(path, options)).json();
const show = (id, text) => (document.getElementById(id).textContent = text);

async function refresh() {
  const [hello, health, notes] = await Promise.all(
    ["/api/greeting", "/healthz", "/api/notes"].map((path) => ask(path)),
  );
  show("greeting", hello.greeting);
  show("release", health.release);
  show("thoughts", health.thoughts);
  const items = notes.items.map((note) => {
    const item = document.createElement("li");
    item.textContent = note.text;
    return item;
  });
  document.getElementById("notes").replaceChildren(...items);
}

document.getElementById("write").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = document.getElementById("text");
  await ask("/api/notes", { method: "POST", body: JSON.stringify({ text: field.value }) });
  field.value = "";
  await refresh();
});

refresh();
setInterval(refresh, 2000);
