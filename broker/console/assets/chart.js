// A small line of the last minutes: one number over time, with its newest value and its greatest.

import { h, svg } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 44;

export class Chart {
  constructor(title, shown) {
    this.shown = shown;
    this.points = [];
    this.now = h("b", {}, "–");
    this.line = svg("path", { class: "trend" });
    this.area = svg("path", { class: "area" });
    this.most = h("span", {}, "");
    const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, this.area, this.line);
    this.element = h("section", { class: "figure", "aria-label": title }, h("h3", {}, title), h("p", {}, this.now, this.most), picture);
  }

  add(value) {
    if (typeof value !== "number") return;
    this.points.push(value);
    if (this.points.length > 120) this.points.shift();
    const most = Math.max(...this.points, 1e-9);
    const step = WIDTH / 119;
    const first = WIDTH - (this.points.length - 1) * step;
    const y = (each) => (HEIGHT - 3 - (each / most) * (HEIGHT - 6)).toFixed(1);
    const line = this.points.map((each, at) => `${at ? "L" : "M"}${(first + at * step).toFixed(1)} ${y(each)}`).join("");
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", `${line}L${WIDTH} ${HEIGHT}L${first.toFixed(1)} ${HEIGHT}Z`);
    this.now.textContent = this.shown(value);
    this.most.textContent = ` at most ${this.shown(Math.max(...this.points))}`;
  }
}
