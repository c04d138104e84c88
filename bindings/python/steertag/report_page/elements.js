/* Makes elements. Texts of a target become text nodes only, and never HTML. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/* An element with attributes and children, which are nodes or texts; null children are left out. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function makeSvg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const TONES = {pass: "good", latitude: "good", fail: "bad", hang: "bad", crash: "bad", "harness-error": "bad"};

function badge(verdict, text = verdict) {
  return make("span", {class: `badge ${TONES[verdict] || "other"}`}, text);
}

/* "1 case", "1,432 cases" */
function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/* Rows of a definition list, without those that have no content. */
function definitions(rows, attributes = {}) {
  const list = make("dl", attributes);
  for (const [label, ...contents] of rows) {
    const shown = contents.filter((each) => each !== null && each !== "");
    if (shown.length) list.append(make("dt", {}, label), make("dd", {}, ...shown));
  }
  return list;
}

/* A link to a file beside the page. Whatever its name is, it is no URL of another kind. */
function fileLink(label, path) {
  return make("a", {href: `./${path.split("/").map(encodeURIComponent).join("/")}`}, label);
}

function webLink(label, url) {
  return url.startsWith("https://") ? make("a", {href: url}, label) : make("span", {}, label);
}
