// The page of the whole program: which machines run which subscriptions, and merged automata as a picture.

import { draw, get, h, later, number, several } from "./dom.js";
import { card, empty, languages, link, list, say, table } from "./parts.js";

const COST = "cost of an event: ";

const lines = (found) => h("ul", { class: "lines" }, found.map((line) => h("li", {}, line)));

/** For some names the places of their runs and of how they run, which are filled when the broker has answered. */
export function costs(names) {
  const places = { runs: names.map(() => h("span", {}, "–")), how: names.map(() => h("span", { class: "hint" })) };
  const ask = async () => {
    if (!names.length) return;
    try {
      const found = await get(`/api/costs?${new URLSearchParams(names.map((name) => ["name", name]))}`);
      names.forEach((name, at) => {
        const own = found[name];
        if (!own) return;
        places.runs[at].textContent = own.runs === null ? "–" : `${own.more ? "over " : ""}${number(own.runs)}`;
        places.how[at].textContent = own.lines.filter((line, place) => place === 0 || line.includes(COST)).join("; ");
      });
    } catch {
      return; // the listing says what is wrong
    }
    if (places.runs[0].isConnected) setTimeout(ask, 10_000);
  };
  ask();
  return places;
}

/** The page. */
export async function program(content) {
  const found = await get("/api/program");
  const which = (each) => (each.name ? [link(each.name), each.subscriptions > 1 ? ` and ${number(each.subscriptions - 1)} more` : ""] : ["what several have in common"]);
  const rows = found.listed.map((each) => [number(each.subscriptions), h("span", {}, which(each)), lines(each.lines)]);
  const search = h("input", { type: "search", size: "26", autocomplete: "off", spellcheck: "false" });
  const language = languages("");
  const picture = h("div", { class: "diagram", tabindex: "0", role: "group", "aria-label": "The merged automata" });
  const told = h("div", {});
  content.replaceChildren(h("h2", { class: "unseen" }, "Program"),
    card("What runs them", list([["subscriptions", number(found.subscriptions)], ["machines, beside merged automata and columns", `${found.more ? "over " : ""}${number(found.machines)}`]])),
    h("section", { class: "card", "aria-label": "Merged automata" }, h("div", { class: "bar" }, h("h2", {}, "Merged automata"), h("label", {}, "Language ", language), h("label", {}, "Search names ", search)), picture, told),
    card("Machines", rows.length ? table("Machines", ["#Subscriptions", "Which", "How it runs them"], rows) : empty("None: merged automata run all there is.")));
  let asked = 0;
  const show = async () => {
    const own = ++asked;
    try {
      const drawn = await get(`/api/program/picture?${new URLSearchParams({ search: search.value, language: language.value })}`);
      if (own !== asked) return;
      if (drawn.drawn) draw(picture, drawn.svg);
      else picture.replaceChildren(empty(drawn.total ? "They are gone." : "No subscription is like that."));
      told.replaceChildren(h("p", { class: "hint" }, drawn.drawn < drawn.total ? `The first ${number(drawn.drawn)} of ${several(drawn.total, "subscription")}: search for others.` : `${several(drawn.drawn, "subscription")}.`),
        h("details", {}, h("summary", {}, "What these share"), lines(drawn.explain)),
        drawn.left.length ? h("details", {}, h("summary", {}, "What is not drawn"), lines(drawn.left)) : "");
      say("");
    } catch (error) {
      if (own === asked) picture.replaceChildren(empty(error.message));
    }
  };
  search.addEventListener("input", later(300, show));
  language.addEventListener("change", show);
  await show();
}
