// What the pages of the console share: cards, tables, texts of rates and spans, the line of status.

import { at, h, number } from "./dom.js";

export const rate = (value) => (value >= 10 ? number(Math.round(value)) : String(Math.round(value * 10) / 10));
export const micros = (value) => (value < 1_000 ? `${number(value)} µs` : `${number(Math.round(value / 100) / 10)} ms`);
export const seconds = (value) => value < 120 ? `${Math.round(value)} s` : value < 7_200 ? `${Math.round(value / 60)} min` : value < 172_800 ? `${Math.round(value / 3_600)} h` : `${number(Math.round(value / 86_400))} days`;
export const bytes = (value) => value < 1e4 ? `${number(value)} B` : value < 1e7 ? `${number(Math.round(value / 1e3))} kB` : value < 1e10 ? `${number(Math.round(value / 1e6))} MB` : `${number(Math.round(value / 1e8) / 10)} GB`;
/** A time between two events, in microseconds. */
export const span = (value) => (value < 2e6 ? micros(value) : seconds(value / 1e6));
export const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(value * 1_000) / 10} %`);
export const counted = (value) => (value === null || value === undefined ? "–" : number(value));

export const card = (title, ...parts) => h("section", { class: "card", "aria-label": title }, h("div", { class: "bar" }, h("h2", {}, title)), parts);
export const empty = (text) => h("p", { class: "empty" }, text);
export const link = (name) => h("a", { href: `/subscriptions/${encodeURIComponent(name)}` }, name);
export const list = (rows) => h("dl", {}, rows.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));

const LANGUAGES = ["", "cayuga", "sase", "ptopss", "afa", "window"];
/** A choice of one language or all. */
export const languages = (chosen, attributes = {}) => h("select", attributes, LANGUAGES.map((each) => h("option", { value: each, selected: each === chosen }, each || "all languages")));

/** A table; the heads of numbers begin with `#`. */
export function table(title, heads, rows) {
  const shown = (head) => (head.startsWith("#") ? "count" : head === "Values" ? "values" : null);
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, h("table", {}, h("caption", { class: "unseen" }, title),
    h("thead", {}, h("tr", {}, heads.map((each) => each ? h("th", { scope: "col", class: shown(each) }, each.replace("#", "")) : h("td", {})))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((each, place) => h("td", { class: shown(heads[place]) }, each)))))));
}

export function say(text, bad = false) {
  at("status").textContent = text;
  at("status").className = bad ? "bad" : "";
}

/** Calls with each look at something of the broker, also after it has begun anew. */
export function follow(path, action) {
  const source = new EventSource(path);
  let quiet = 0;
  const watch = (rest) => {
    clearTimeout(quiet);
    quiet = setTimeout(() => say("The broker does not answer; this page goes on when it does.", true), 6_000 + 1_000 * rest);
  };
  watch(0);
  source.onmessage = (event) => {
    const look = JSON.parse(event.data);
    watch(look.rest);
    if (look.busy) say("The broker is busy.", true);
    else if (look.trouble) say(look.trouble, true);
    else action(look);
  };
}
