// The list: which pairs are shown, opened, and printed. Rows are made for what is shown, details when they are opened.

const AT_ONCE = 100;
const NO_LABEL = "none";
const form = document.getElementById("filters");
const body = document.querySelector("#list tbody");
const more = document.getElementById("more");
const count = document.getElementById("count");
const paper = document.getElementById("paper");
const selects = ["verdict", "label", "action", "repository"].map((name) => document.getElementById(name));
const search = document.getElementById("search");
const ids = pairs.map((pair) => pair.id.toLowerCase());
let chosen = pairs;
let shown = 0;

function holds(pair, name, value) {
  if (!value) return true;
  if (name !== "label") return pair[name] === value;
  const labels = pair.verdict === "failed" ? null : pair.labels || [];
  return labels !== null && (value === NO_LABEL ? !labels.length : labels.includes(value));
}

function choose() {
  const wanted = search.value.trim().toLowerCase();
  const values = selects.map((select) => [select.id, select.value]);
  chosen = pairs.filter((pair, n) => ids[n].includes(wanted) && values.every(([name, value]) => holds(pair, name, value)));
  shown = 0;
  body.replaceChildren();
  showMore();
}

function showMore() {
  const next = chosen.slice(shown, shown + AT_ONCE);
  body.append(...next.map(rowOf));
  shown += next.length;
  const left = chosen.length - shown;
  more.hidden = !left;
  more.textContent = `Show ${Math.min(left, AT_ONCE).toLocaleString("en")} more of ${left.toLocaleString("en")}`;
  count.textContent = `${chosen.length.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} pairs`;
}

function rowOf(pair) {
  const button = make("button", "open", make("bdi", "", pair.id));
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const labels = make("td", "", ...(pair.labels || []).flatMap((label) => [chip("label", label), " "]));
  const row = make("tr", "pair", make("td", "id", button), make("td", "", chip(pair.verdict, verdictWords(pair))), labels);
  row.append(make("td", "", pair.action || "none"));
  row.addEventListener("click", () => toggle(pair, row, button));
  return row;
}

function toggle(pair, row, button) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    row.nextElementSibling.remove();
    return;
  }
  const cell = make("td", "", details(pair, 3));
  cell.colSpan = row.cells.length;
  row.after(make("tr", "opened", cell));
}

/** Paper gets all misaligned pairs among the chosen, opened. */
function layOut() {
  const misaligned = chosen.filter((pair) => pair.verdict === "misaligned");
  const title = `Misaligned pairs: ${misaligned.length.toLocaleString("en")}`;
  const some = chosen.length < pairs.length && make("p", "note", `Of the ${chosen.length.toLocaleString("en")} pairs chosen by ${said()}.`);
  const printed = misaligned.map((pair) =>
    make("article", "", make("h3", "", make("bdi", "", pair.id)), details(pair, 4)),
  );
  paper.replaceChildren(make("h2", "", title), some || "", ...printed);
}

/** The filters in words. */
function said() {
  const set = selects.filter((select) => select.value).map((select) => `${select.id} ${select.value}`);
  const wanted = search.value.trim();
  return [...set, ...(wanted ? [`id with “${wanted}”`] : [])].join(", ");
}

function chooseFromFigure(event) {
  const button = event.target.closest("[data-filter]");
  if (!button) return;
  form.reset();
  document.getElementById(button.dataset.filter).value = button.dataset.value;
  choose();
  document.getElementById("pairs").scrollIntoView();
  document.getElementById(button.dataset.filter).focus({ preventScroll: true });
}

form.addEventListener("input", choose);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => queueMicrotask(choose));
more.addEventListener("click", showMore);
document.addEventListener("click", chooseFromFigure);
addEventListener("beforeprint", layOut);
addEventListener("afterprint", () => paper.replaceChildren());
choose();
