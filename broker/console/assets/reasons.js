// Shows why a match came, and what stopped those that did not.

import { h, instant, several, value, values } from "./dom.js";

const sign = (holds) => h("span", { class: holds ? "yes" : "no", "aria-label": holds ? "holds:" : "fails:", role: "img" }, holds ? "✓" : "✗");

const conditions = (found) =>
  found.length ? h("ul", { class: "conditions" }, found.map((each) => h("li", {}, sign(each.holds), " ", h("code", {}, each.condition),
    each.values !== each.condition ? h("code", { class: "put" }, each.values) : null))) : null;

function event(numbers, known) {
  return numbers.map((each) => {
    const own = known[each];
    return h("p", { class: "event" }, h("b", {}, `event ${each}`), own ? [" ", h("time", {}, instant(own.time)), " ", values(own.data)] : null);
  });
}

const step = (each, known) => h("li", {},
  each["passed over"] ? h("p", { class: "passed" }, `${several(each["passed over"].number, "event")} passed over: ${each["passed over"].rule}`) : null,
  h("p", { class: "as" }, "as ", h("code", {}, each.as), each.arc ? [" by ", h("code", {}, each.arc)] : null), event(each.events, known), conditions(each.conditions),
  each.registers ? h("p", { class: "as" }, Object.entries(each.registers.after).map(([name, after]) =>
    h("span", { class: "value" }, h("i", {}, name), ` ${value(each.registers.before[name])} → ${value(after)}`))) : null);

const told = (each) => h("li", {}, `${each.kind === "match" ? "reported" : "withdrawn"} by ${each.by}${each.events ? ` ${each.events.join(", ")}` : ""}`);

function bounds(window) {
  if (window.from !== undefined) return `The window is from ${instant(window.from)} to before ${instant(window.until)}.`;
  const { prefix, body, keep } = window;
  return `${several(prefix.events, "event")} came before the window; its states are ${body.states.join(", ")}${keep === "each" ? "" : `; of several windows the ${keep} is kept`}.`;
}

/** The parts of an answer to why. */
export function why(found) {
  return [h("p", { class: "lead" }, `${found.subscription} matched: each event, and the conditions that it fulfilled.`),
    found.window ? h("p", { class: "as" }, bounds(found.window)) : null,
    found.told?.length > 1 ? h("ul", { class: "conditions" }, found.told.map(told)) : null,
    h("ol", { class: "steps" }, found.steps.map((each) => step(each, found.values)))].filter(Boolean);
}

const untaken = (each, known) => h("li", {}, h("p", { class: "as" }, "not as ", h("code", {}, each.as)), event(each.events, known), conditions(each.failed));

/** The parts of an answer to why not. */
export function whyNot(found, about) {
  const parts = [h("p", { class: "lead" }, about)];
  if (!found.nearest.length && !found.beginnings?.length)
    parts.push(h("p", {}, "No partial match began here: there is nothing that could have become one."));
  for (const each of found.nearest)
    parts.push(h("article", {},
      h("h3", {}, each.missing === 0 ? "Enough events, but one more condition" : `${several(each.missing, "event")} short of a match`),
      h("p", { class: "ended" }, each.ended, each["ended by"] ? `, event ${each["ended by"].join(", ")}` : "", "."),
      h("ol", { class: "steps" }, each.steps.map((one) => step(one, found.values))),
      each["waits for"] ? h("div", {}, h("h4", {}, "It waits for"), h("ul", { class: "conditions" }, each["waits for"].map((one) =>
        h("li", {}, h("code", {}, one.as), one.conditions.length ? [" with ", one.conditions.map((text, at) => [at ? " and " : "", h("code", {}, text)])] : null)))) : null,
      each.refused.length ? h("div", {}, h("h4", {}, "What came nearest to going on"), h("ul", { class: "steps" }, each.refused.map((one) => untaken(one, found.values)))) : null));
  if (found.beginnings?.length)
    parts.push(h("h3", {}, "None began. What came nearest to beginning one"), h("ul", { class: "steps" }, found.beginnings.map((one) => untaken(one, found.values))));
  if (found["cut short"]) parts.push(h("p", { class: "as" }, `This is not all: ${found["cut short"]}.`));
  for (const each of found.withdrawn ?? [])
    parts.push(h("article", {}, h("h3", {}, "It was a match for a time"), h("p", { class: "ended" }, `Withdrawn by ${each.by} ${(each.events ?? []).join(", ")}.`), event(each.lineage, found.values)));
  return parts;
}
