/* Unpacks the content and shows it: facts, causes, and the list of cases with its filters and keys. */
"use strict";

const MOST_ROWS = 200; // shown at once: more are a click away, and the browser stays quick
const form = document.querySelector("form");
const list = document.getElementById("list");
const more = document.getElementById("more");

async function unpacked() {
  const text = document.getElementById("content").textContent;
  const octets = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function showHead(content) {
  document.title = content.title;
  document.querySelector("h1").textContent = content.title;
  document.getElementById("totals").append(
    ...content.totals.map(([verdict, count]) => badge(verdict, `${count.toLocaleString("en")} ${verdict}`)).reverse());
  document.getElementById("facts").replaceWith(definitions(content.facts, {id: "facts"}));
  document.getElementById("alerts").append(
    ...content.alerts.map((sentence) => make("p", {class: "alert"}, sentence)));
  document.getElementById("topic-name").textContent = content.topic;
}

/* <details> whose body is made when it is opened first. */
function folded(attributes, heading, body) {
  const element = make("details", attributes, make("summary", {}, ...heading));
  element.addEventListener("toggle", () => {
    if (!element.open) return;
    if (element.childElementCount === 1) element.append(body());
    drawLadders(element);
  });
  return element;
}

function showCauses(content, name, causes) {
  const section = document.getElementById(name);
  section.hidden = !causes.length && name !== "causes";
  if (!causes.length) section.append(make("p", {}, `No ${content.noun} breaks a requirement that binds.`));
  const made = causes.map((cause) => folded({class: "cause", id: `${name}-${cause.number}`},
    [make("span", {class: "count"}, counted(cause.count, content.noun)), `: ${cause.headline}`],
    () => causeView(cause, content, name === "causes")));
  section.append(...made);
  if (made.length) made[0].open = true;
}

function causeView(cause, content, canBeChosen) {
  const choose = make("button", {type: "button"}, `List the ${counted(cause.cases.length, content.noun)}`);
  choose.addEventListener("click", () => {
    listAll(content, {cause: `${cause.number}`});
    form.scrollIntoView();
    form.cause.focus();
  });
  const example = content.cases[cause.example];
  const body = caseView(example, content, [
    ["verdicts", cause.verdicts.length > 1 ? cause.verdicts.map(([word, count]) => `${count} ${word}`).join(", ") : ""],
    ["after it", cause.follows.map(([id, count]) => `${id} in ${counted(count, content.noun)}`).join(", ")],
    ["see also", related(cause, content)],
    ["also fail", cause.others.map(([target, count]) => `${target} in ${counted(count, content.noun)}`).join(", ")],
    ["example", make("strong", {}, example.id)],
  ]);
  if (canBeChosen) body.prepend(choose);
  return body;
}

function related(cause, content) {
  const words = cause.after.map(([number, count]) => `also after cause ${number} in ${counted(count, content.noun)}`);
  if (cause.perhaps !== null) words.push(`perhaps the same as cause ${cause.perhaps}`);
  return words.join("; ");
}

let fits = []; // places of the cases that fit the filters
let shown = 0; // how many of them are in the list

function show(content) {
  const fit = fitting(form, content);
  fits = content.cases.map((_, place) => place).filter((place) => fit(content.cases[place], place));
  list.replaceChildren();
  shown = 0;
  showMore(content);
  form.querySelector("output").value = `${fits.length.toLocaleString("en")} of ${counted(content.cases.length, content.noun)}`;
}

/* Lists all cases that fit the values, whatever their verdict. */
function listAll(content, values) {
  form.reset();
  for (const [name, value] of Object.entries({verdict: ANY, baseline: ANY, ...values})) form[name].value = value;
  show(content);
}

function showMore(content) {
  const next = fits.slice(shown, shown + MOST_ROWS);
  list.append(...next.map((place) => row(content.cases[place], content)));
  shown += next.length;
  const left = fits.length - shown;
  more.hidden = left <= 0;
  more.textContent = `Show ${Math.min(left, MOST_ROWS)} of ${left.toLocaleString("en")} more`;
}

function row(entry, content) {
  return make("li", {"data-case": entry.id}, folded({},
    [badge(entry.verdict), make("span", {class: "id"}, entry.id),
     ...(WRONG.includes(entry.verdict) && entry.baseline === EXPECTED ? [make("span", {class: "known dim"}, "known")] : []),
     make("span", {class: "reason"}, summary(entry, content))],
    () => caseView(entry, content)));
}

/* The clause that is broken and what was seen; of other cases the reason, or what the case tries. */
function summary(entry, content) {
  const row = content.clauses[entry.about[0]];
  if (WRONG.includes(entry.verdict) && row && row.statement) {
    return `${row.place} (${row.level}): ${row.statement} Seen: ${entry.seen || entry.reason}`;
  }
  return entry.reason || entry.sentence;
}

/* The address's fragment names a case: it is shown open, whatever the filters hide. */
function reveal(content) {
  const place = content.cases.findIndex((entry) => `#${encodeURIComponent(entry.id)}` === location.hash);
  if (place < 0) return;
  if (!fits.includes(place)) listAll(content, {});
  while (fits.indexOf(place) >= shown) showMore(content);
  const details = list.children[fits.indexOf(place)].firstElementChild;
  details.open = true;
  details.scrollIntoView();
  details.firstElementChild.focus();
}

function onKey(event) {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") form.text.focus();
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else return;
  event.preventDefault();
}

/* Moves the focus to the next or previous cause or case. */
function step(by) {
  const stops = [...document.querySelectorAll("section:not([hidden]) summary")];
  const here = stops.indexOf(document.activeElement);
  const next = stops[here < 0 ? 0 : Math.min(stops.length - 1, Math.max(0, here + by))];
  if (next) next.focus();
}

function start(content) {
  showHead(content);
  fillFilters(form, content);
  document.getElementById("cases").hidden = false;
  document.getElementById("loading").remove();
  showCauses(content, "causes", content.causes);
  showCauses(content, "warnings", content.warnings);
  show(content);
  form.addEventListener("input", () => show(content));
  document.getElementById("every").addEventListener("click", () => { form.reset(); show(content); });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => showMore(content));
  addEventListener("hashchange", () => reveal(content));
  addEventListener("keydown", onKey);
  addEventListener("resize", () => drawLadders(document));
  reveal(content);
  document.documentElement.dataset.ready = "";
}

unpacked().then(start).catch((error) => {
  const loading = document.getElementById("loading") || document.querySelector("main");
  loading.append(` This browser cannot show the page: ${error.message}.`);
});
