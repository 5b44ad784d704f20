// The search of the documentation: every word of the question has to be in a section.
const MOST_RESULTS = 20;
const CONTEXT = 90;
const field = document.querySelector("#search");
const answers = document.querySelector("#answers");
const found = document.querySelector("#found");
const results = document.querySelector("#results");
let loading;

const load = () => {
  loading ??= fetch("/docs/search.json").then((answer) => answer.json());
  return loading;
};

field.addEventListener("focus", load, { once: true });
field.addEventListener("input", () => search(field.value));
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
  if (event.key === "Escape") {
    field.value = "";
    search("");
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target === document.body) {
    event.preventDefault();
    field.focus();
  }
});

async function search(question) {
  const terms = question.toLowerCase().split(/\s+/).filter(Boolean);
  answers.hidden = terms.length === 0;
  if (terms.length === 0) return;
  const sections = await load();
  if (question !== field.value) return;
  const matches = sections
    .map((section) => ({ section, score: score(section, terms) }))
    .filter((match) => match.score > 0)
    .sort((a, b) => b.score - a.score);
  found.textContent = describe(matches.length);
  results.replaceChildren(
    ...matches.slice(0, MOST_RESULTS).map((match) => row(match.section, terms[0])),
  );
}

function describe(count) {
  if (count === 0) return "Nothing was found: try fewer words, or another one.";
  if (count > MOST_RESULTS) return `${count} sections; the best ${MOST_RESULTS}:`;
  return count === 1 ? "1 section" : `${count} sections`;
}

/** Count for more where a word is in a title than where it is in the text; 0 if one is missing. */
function score(section, terms) {
  const [page, heading, text] = [section.page, section.heading, section.text].map((part) =>
    part.toLowerCase(),
  );
  let total = 0;
  for (const term of terms) {
    const points =
      (page.includes(term) ? 8 : 0) +
      (heading.includes(term) ? 12 : 0) +
      Math.min(text.split(term).length - 1, 5);
    if (points === 0) return 0;
    total += points;
  }
  return total;
}

/** Everything is put in as text: what a page says is never read as markup here. */
function row(section, term) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = section.address;
  link.textContent =
    section.heading === section.page ? section.page : `${section.page}: ${section.heading}`;
  const excerpt = document.createElement("p");
  excerpt.textContent = cut(section.text, term);
  item.append(link, excerpt);
  return item;
}

function cut(text, term) {
  const at = Math.max(text.toLowerCase().indexOf(term), 0);
  const from = Math.max(at - CONTEXT, 0);
  const to = at + term.length + CONTEXT;
  return `${from > 0 ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
}
