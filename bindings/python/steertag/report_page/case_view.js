/* What is shown of one case: the clause, the ladder with its messages, files, commands, deviations, others. */
"use strict";

const ladders = new WeakMap(); // element: function that draws its ladder anew

/* `rows` are shown first. */
function caseView(entry, content, rows = []) {
  return make("div", {class: "body"},
    definitions([
      ...rows,
      [content.sentence, entry.sentence],
      ["verdict", badge(entry.verdict), entry.reason],
      ["seen", entry.seen],
      ["expected", entry.expected],
      ...entry.about.map((id) => ["clause", ...clause(id, content.clauses[id])]),
      ["files", ...spaced(entry.files.map(([label, path]) => fileLink(label, path)))],
      ...entry.commands.map(([label, command]) => [label, make("code", {}, command)]),
    ]),
    ...connections(entry).flatMap(connectionView),
    ...othersView(entry), ...deviationsView(entry, content), ...claimsView(entry, content));
}

/* Nodes with spaces between. */
function spaced(nodes) {
  return nodes.flatMap((node, place) => (place ? [" ", node] : [node]));
}

function clause(id, row) {
  if (!row || !row.statement) return [id];
  return [webLink(`${row.place} (${row.level})`, row.url), `: ${row.statement} `, make("span", {class: "dim"}, id)];
}

/* [[connection, lines]] in the order of the trace. What no event shows, such as silence, is its end. */
function connections(entry) {
  const found = new Map();
  for (const line of entry.trace) {
    if (!found.has(line.connection)) found.set(line.connection, []);
    found.get(line.connection).push(line);
  }
  const last = [...found.values()].pop();
  if (last && !entry.trace.some(isMarked) && entry.seen) {
    const violations = entry.about.slice(0, 1).map((id) => [id, "", true]);
    last.push({number: "", time: null, direction: "", kind: "end_of_trace", text: entry.seen, chunks: [], violations});
  }
  return [...found];
}

function connectionView([number, lines]) {
  const list = messages(lines);
  const place = make("div", {class: "drawing"});
  const pick = (chosen) => {
    for (const rows of [place.querySelectorAll(".row"), list.children]) {
      [...rows].forEach((row, at) => row.classList.toggle("picked", at === chosen));
    }
    list.children[chosen].scrollIntoView({block: "nearest"});
  };
  [...list.children].forEach((item, at) => item.addEventListener("click", () => pick(at)));
  ladders.set(place, () => place.replaceChildren(ladder(lines, place.clientWidth, pick)));
  return [make("h3", {}, `Connection ${number}`), place, legend(lines), list];
}

/* Draws the ladders below an element, once it has a width. */
function drawLadders(element) {
  for (const place of element.querySelectorAll(".drawing")) {
    if (place.clientWidth) ladders.get(place)();
  }
}

function messages(lines) {
  return make("ol", {class: "messages"}, ...lines.map((line) => {
    const ours = line.violations.length && !isMarked(line);
    const broken = line.violations.map(([id, text, byTarget]) =>
      make("span", {class: "breaks"}, `breaks ${id}${byTarget ? "" : " (our side)"}${text ? `: ${text}` : ""}`));
    return make("li", {class: isMarked(line) ? "marked" : ours ? "ours" : "plain"},
      make("span", {class: "number"}, numbered(line)),
      make("span", {class: "time"}, line.time === null ? "" : line.time.toFixed(6)),
      make("span", {class: "direction"}, line.direction),
      make("span", {class: "text"}, line.text, ...broken));
  }));
}

function othersView(entry) {
  if (!entry.others.length) return [];
  return [make("h3", {}, "Who else fails"), definitions(entry.others.map(([target, verdict, note]) =>
    [target, badge(verdict in TONES ? verdict : "warn", verdict), note]))];
}

function claimsView(entry, content) {
  const claimed = entry.requirements.filter((id) => !entry.about.includes(id));
  if (!claimed.length) return [];
  return [make("h3", {}, entry.about.length ? "The case claims too" : "The case claims"),
    make("ul", {class: "claims"}, ...claimed.map((id) => make("li", {}, ...clause(id, content.clauses[id]))))];
}

function deviationsView(entry, content) {
  const rows = new Map(entry.about.flatMap((id) => (content.clauses[id] || {}).deviations || [])
    .filter(([, , option]) => (option === "--client-deviate") === (entry.side === "client"))
    .map(([name, sentence, option]) => [name, [sentence, option]]));
  if (!rows.size) return [];
  return [make("h3", {}, "Deviations of our own peers that break the same"),
    definitions([...rows].map(([name, [sentence, option]]) =>
      [name, `${sentence} `, make("code", {}, `${option} ${name}`)]))];
}
