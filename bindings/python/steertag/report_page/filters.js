/* The filters of the list of cases: their choices, and which cases fit. */
"use strict";

const WRONG = ["fail", "hang", "crash", "harness-error", "warn"];
const ANY = "", WENT_WRONG = "went wrong";
const DIFFERENT = "different", EXPECTED = "expected"; // beside the baseline

function option(value, text) {
  return make("option", {value}, text);
}

/* Fills the form's choices. Chosen first are cases that differ from the baseline, or else those that went
   wrong. */
function fillFilters(form, content) {
  const wrong = content.cases.filter((entry) => WRONG.includes(entry.verdict)).length;
  const verdicts = content.totals.map(([verdict, count]) => option(verdict, `${verdict} (${count})`));
  const started = wrong ? [option(WENT_WRONG, `went wrong (${wrong})`), option(ANY, "any")] : [option(ANY, "any")];
  const differ = fillBaseline(form.baseline, content);
  if (differ) started.reverse();
  form.verdict.append(...started, ...verdicts.reverse());
  const causes = content.causes.map((cause) => option(`${cause.number}`, `cause ${cause.number} (${cause.count})`));
  form.cause.append(option(ANY, "any"), ...causes);
  const named = Object.entries(content.clauses);
  form.requirement.append(option(ANY, "any"), ...named.map(([id]) => option(id, id)));
  const sections = new Set(named.flatMap(([, row]) => (row.section ? sectionNames(row.section) : [])));
  form.section.append(option(ANY, "any"), ...[...sections].map((name) => option(name, name)));
  const topics = [...new Set(content.cases.map((entry) => entry.topic))].sort();
  form.topic.append(option(ANY, "any"), ...topics.map((topic) => option(topic, topic || "none")));
}

/* The filter is there only with a baseline. Returns the number of cases that differ. */
function fillBaseline(select, content) {
  const count = (word) => content.cases.filter((entry) => entry.baseline === word).length;
  const [differ, expected] = [count(DIFFERENT), count(EXPECTED)];
  const choices = [option(ANY, "any"), option(EXPECTED, `as expected (${expected})`)];
  if (differ) choices.unshift(option(DIFFERENT, `differs (${differ})`));
  select.append(...choices);
  select.parentElement.hidden = !differ && !expected;
  return differ;
}

/* "RFC8166-4.5.1" is in itself, in RFC8166-4.5, in RFC8166-4 and in RFC8166. "ODAFS" has no sections. */
function sectionNames(section) {
  const [root, numbers] = section.split("-");
  const parts = numbers ? numbers.split(".") : [];
  return [root, ...parts.map((_, place) => `${root}-${parts.slice(0, place + 1).join(".")}`)];
}

/* A function that says whether a case fits the form. */
function fitting(form, content) {
  const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const [verdict, requirement, section, topic] =
    ["verdict", "requirement", "section", "topic"].map((name) => form[name].value);
  const cause = content.causes.find((each) => `${each.number}` === form.cause.value);
  const ofCause = cause && new Set(cause.cases);
  const inSection = (id) => sectionNames((content.clauses[id] || {}).section || "-").includes(section);
  return (entry, place) => {
    const ids = [...entry.about, ...entry.requirements];
    return (verdict === ANY || (verdict === WENT_WRONG ? WRONG.includes(entry.verdict) : entry.verdict === verdict))
      && (form.baseline.value === ANY || entry.baseline === form.baseline.value)
      && (!ofCause || ofCause.has(place))
      && (requirement === ANY || ids.includes(requirement))
      && (section === ANY || ids.some(inSection))
      && (topic === ANY || entry.topic === topic)
      && (!words.length || words.every((word) => textOf(entry, content).includes(word)));
  };
}

/* What the text filter looks in, made once. */
function textOf(entry, content) {
  const statement = (content.clauses[entry.about[0]] || {}).statement || "";
  entry.searched ||= [entry.id, entry.sentence, entry.verdict, entry.reason, entry.seen, statement, ...entry.about,
    ...entry.requirements].join(" ").toLowerCase();
  return entry.searched;
}
