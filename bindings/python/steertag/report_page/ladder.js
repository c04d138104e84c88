/* Draws the lines of one connection as a ladder: two life lines, an arrow for each message or RDMA operation. */
"use strict";

const ROW = 42, HEAD = 30, ARROW_AT = 22, BELOW_AT = 33;
const NARROW = 34, WIDE = 70; // from an edge to the life line, in a narrow and in a wide ladder
const NARROW_WIDTH = 560, LEAST_WIDTH = 260;
const CHARACTER = 6.7; // the width of one, in pixels, of the font in style.css
const COLOURS = 6;
const SETUP = ["connect", "accept"], END = ["terminate", "disconnect", "reject"];

/* Which colour a chunk has: {key: [number, name]} in the order of appearance. */
function chunkColours(lines) {
  const found = new Map();
  for (const [key, name] of lines.flatMap((line) => line.chunks)) {
    if (!found.has(key)) found.set(key, [found.size % COLOURS, name]);
  }
  return found;
}

/* The words of a line for the space above its arrow; the list of messages has it whole. */
function shortText(line) {
  const parts = line.text.split("; ");
  const said = parts.find((part) => /^(CALL|REPLY|ERR_|the header breaks|no RPC)/.test(part));
  return said && parts[0] !== said ? `${parts[0].split(" ")[0]} ${said}` : line.text;
}

function fitted(text, width) {
  const most = Math.max(8, Math.floor(width / CHARACTER));
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}

/* The <svg>. `width` is in pixels; `pick(place)` is called with the place of a line that is clicked. */
function ladder(lines, width, pick) {
  const whole = Math.max(width, LEAST_WIDTH);
  const margin = whole < NARROW_WIDTH ? NARROW : WIDE;
  const sides = {client: margin, server: whole - margin};
  const height = HEAD + ROW * lines.length + 8;
  const colours = chunkColours(lines);
  const rows = lines.map((line, place) => ladderRow(line, HEAD + ROW * place, whole, sides, colours));
  rows.forEach((row, place) => row.addEventListener("click", () => pick(place)));
  const marked = lines.filter(isMarked).map((line) => numbered(line) || "the end").join(", ");
  const title = `${counted(lines.length, "line")} of client and server`;
  return makeSvg("svg",
    {class: "ladder", role: "img", viewBox: `0 0 ${whole} ${height}`, width: whole, height,
     "aria-label": marked ? `${title}; ${marked} breaks a requirement` : title},
    ...Object.entries(sides).flatMap(([name, x]) => lifeLine(name, x, height)), ...rows);
}

function lifeLine(name, x, height) {
  return [
    makeSvg("line", {class: "life", x1: x, x2: x, y1: HEAD - 6, y2: height}),
    makeSvg("text", {class: "side", x, y: HEAD - 12, "text-anchor": "middle"}, name),
  ];
}

/* The number of its event, or "" for what is no event. */
function numbered(line) {
  return line.number === "" ? "" : `#${line.number}`;
}

function isMarked(line) {
  return line.violations.some(([, , byTarget]) => byTarget);
}

function ladderRow(line, top, width, sides, colours) {
  const span = sides.server - sides.client;
  const broken = line.violations.filter(([, , byTarget]) => byTarget).map(([id]) => id);
  const row = makeSvg("g", {class: rowClass(line, colours), "data-number": line.number},
    makeSvg("title", {}, line.text),
    makeSvg("rect", {class: "band", x: 0, y: top, width, height: ROW}),
    makeSvg("text", {class: "number", x: 2, y: top + ARROW_AT + 4}, numbered(line)),
    makeSvg("text", {x: width / 2, y: top + ARROW_AT - 6, "text-anchor": "middle"},
            fitted(shortText(line), span - 8)));
  const ends = {"->": [sides.client, sides.server], "<-": [sides.server, sides.client]}[line.direction];
  if (ends) row.append(...arrow(...ends, top + ARROW_AT));
  else if (line.number !== "") row.append(spot(line, sides, top + ARROW_AT));
  if (broken.length) {
    row.append(makeSvg("text", {class: "breaks", x: width / 2, y: top + BELOW_AT + 3, "text-anchor": "middle"},
                       fitted(`breaks ${[...new Set(broken)].join(", ")}`, span - 8)));
  }
  if (ends && !isTransfer(line)) row.append(...chunkSquares(line, ends, top + BELOW_AT, colours));
  return row;
}

function rowClass(line, colours) {
  const words = ["row", line.kind.replace(/[^a-z_]/g, "")];
  if (SETUP.includes(line.kind)) words.push("setup");
  if (END.includes(line.kind)) words.push("end");
  if (line.kind === "rdma_read") words.push("asks");
  if (line.kind === "rdma_write" || line.kind === "rdma_read_response") words.push("moves");
  if (isTransfer(line) && line.chunks.length) {
    words.push("chunked", `chunk-${colours.get(line.chunks[0][0])[0]}`);
  }
  if (isMarked(line)) words.push("marked");
  return words.join(" ");
}

function isTransfer(line) {
  return line.kind.startsWith("rdma_");
}

function arrow(from, to, y) {
  const back = to > from ? -1 : 1;
  return [
    makeSvg("line", {class: "arrow", x1: from, x2: to + back * 7, y1: y, y2: y}),
    makeSvg("polygon", {class: "head", points: `${to},${y} ${to + back * 9},${y - 5} ${to + back * 9},${y + 5}`}),
  ];
}

/* What passes no wire happens at one side, which its text names first. */
function spot(line, sides, y) {
  const x = sides[line.text.split(":")[0]] || (sides.client + sides.server) / 2;
  return makeSvg("circle", {class: "spot", cx: x, cy: y, r: 4});
}

/* A square for each chunk that a header offers or returns, at its sender. */
function chunkSquares(line, [from, to], y, colours) {
  const step = to > from ? 13 : -13;
  const names = new Map(line.chunks.map(([key, name]) => [key, name]));
  return [...names].map(([key, name], place) =>
    makeSvg("rect",
      {class: `chunk chunk-${colours.get(key)[0]}`, x: from + step * (place + 1) - 5, y: y - 6, width: 10, height: 10,
       rx: 2}, makeSvg("title", {}, name)));
}

/* The names of the chunks beside their colours, or null if there is none. */
function legend(lines) {
  const colours = chunkColours(lines);
  if (!colours.size) return null;
  return make("p", {class: "legend"}, ...[...colours].map(([key, [colour, name]]) =>
    make("span", {class: `chunk-${colour}`}, `${name} of xid 0x${key.split(" ")[1]}`)));
}
