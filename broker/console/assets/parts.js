// What the pages of the console share: cards, tables, texts of figures, the line of the state.

import { at, h, number } from "./dom.js";

export const rate = (value) => (value >= 10 ? number(Math.round(value)) : String(Math.round(value * 10) / 10));
export const micros = (value) => (value < 1_000 ? `${number(value)} µs` : `${number(Math.round(value / 100) / 10)} ms`);
export const seconds = (value) => value < 120 ? `${Math.round(value)} s` : value < 7_200 ? `${Math.round(value / 60)} min` : value < 172_800 ? `${Math.round(value / 3_600)} h` : `${Math.round(value / 86_400)} days`;
export const bytes = (value) => value < 1e4 ? `${number(value)} B` : value < 1e7 ? `${number(Math.round(value / 1e3))} kB` : value < 1e10 ? `${number(Math.round(value / 1e6))} MB` : `${number(Math.round(value / 1e8) / 10)} GB`;
export const card = (title, ...parts) => h("section", { class: "card", "aria-label": title }, h("div", { class: "bar" }, h("h2", {}, title)), parts);
export const empty = (text) => h("p", { class: "empty" }, text);

export function table(title, heads, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, h("table", {}, h("caption", { class: "unseen" }, title),
    h("thead", {}, h("tr", {}, heads.map((each) => h("th", { scope: "col", class: each.startsWith("#") ? "count" : null }, each.replace("#", ""))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((each, place) => h("td", { class: heads[place].startsWith("#") ? "count" : heads[place] === "Values" ? "values" : null }, each)))))));
}

export const link = (name) => h("a", { href: `/subscriptions/${encodeURIComponent(name)}` }, name);

export function say(text, bad = false) {
  at("status").textContent = text;
  at("status").className = bad ? "bad" : "";
}
