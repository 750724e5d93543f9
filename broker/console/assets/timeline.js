// A timeline: a row a key, events as ticks, matches as bars from their first event to their last, forecasts as rings.
// Keys: left and right go from match to match, Enter asks why; + and - zoom, 0 shows all.

import { colour, dated, h, instant, number, svg } from "./dom.js";

const LANE = 9;
const LANES_MAX = 4;
const ROW = 20;
const AXIS = 24;
const SECOND = 1e6;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
  604800, 1209600, 2592000, 5184000, 7776000, 15552000, 31536000].map((each) => each * SECOND);

/** `onmatch(result)`, `onevent(place)` of an event by its place in the columns, `ongap(row, time)`. */
export class Timeline {
  constructor(place, caption, { onmatch, onevent, ongap }) {
    Object.assign(this, { caption, onmatch, onevent, ongap });
    this.box = h("div", { class: "timeline", tabindex: "0", role: "group", "aria-label": "Timeline" });
    place.append(this.box);
    this.results = [];
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("pointermove", (event) => this.hover(event));
    this.box.addEventListener("pointerleave", () => this.say(this.active));
    new ResizeObserver(() => this.width !== this.box.clientWidth && this.paint()).observe(this.box);
  }

  /** Shows a run; `names` are the subscriptions in the order of their colours. */
  show(run, names, chosen) {
    const before = [this.first, this.last];
    this.run = run;
    this.names = names;
    this.chosen = chosen;
    this.results = run.results.filter((each) => each.start !== undefined || each.time !== undefined);
    this.results.sort((one, other) => when(one) - when(other));
    const times = [...ends(run.events.time), ...ends(this.results.flatMap((each) => [from(each), when(each)]))];
    [this.first, this.last] = times.length ? ends(times) : [0, 1];
    if (this.first === this.last) this.last = this.first + 1;
    this.active = null;
    if (before[0] !== this.first || before[1] !== this.last || this.a === undefined) this.all();
    else this.paint();
  }

  all() {
    const margin = (this.last - this.first) * 0.02;
    [this.a, this.b] = [this.first - margin, this.last + margin];
    this.paint();
  }

  zoom(factor) {
    const middle = this.active ? when(this.active) : (this.a + this.b) / 2;
    const half = Math.max(5, ((this.b - this.a) * factor) / 2);
    if (half * 2 >= (this.last - this.first) * 1.04) return this.all();
    [this.a, this.b] = [middle - half, middle + half];
    this.paint();
  }

  move(part) {
    const by = (this.b - this.a) * part;
    [this.a, this.b] = [this.a + by, this.b + by];
    this.paint();
  }

  x(time) {
    return this.left + ((time - this.a) / (this.b - this.a)) * (this.width - this.left - 10);
  }

  time(x) {
    return this.a + ((x - this.left) / (this.width - this.left - 10)) * (this.b - this.a);
  }

  paint() {
    if (!this.run) return;
    this.width = this.box.clientWidth || 600;
    const rows = this.run.rows.length ? this.run.rows : [""];
    const longest = Math.max(...rows.map((each) => each.length));
    this.left = Math.min(this.width * 0.28, Math.max(28, longest * 7.2 + 16));
    this.stack(rows.length);
    const parts = [];
    let y = 4;
    this.tops = rows.map((name, row) => {
      const top = y;
      const height = ROW + this.lanes[row] * LANE;
      y += height;
      if (row % 2 === 0) parts.push(svg("rect", { class: "stripe", x: 0, y: top, width: this.width, height }));
      const fits = Math.max(3, Math.floor((this.left - 14) / 7));
      const shown = name.length > fits ? `${name.slice(0, fits - 1)}…` : name;
      parts.push(svg("text", { class: "row", x: this.left - 8, y: top + 14 }, shown));
      return top;
    });
    this.tops.push(y);
    parts.push(...this.axis(y), svg("path", { class: "ticks", d: this.ticks() }));
    const bars = this.results.map((each, place) => this.bar(each, place)).filter(Boolean);
    this.box.setAttribute("role", bars.length ? "listbox" : "group");
    this.box.setAttribute("aria-label", bars.length ? "Matches on the timeline" : "Timeline without matches");
    const picture = { width: this.width, height: y + AXIS, role: "presentation" };
    this.box.replaceChildren(svg("svg", picture, svg("g", { "aria-hidden": "true" }, parts), bars));
    this.choose(this.active, false);
  }

  /** The lane of each result within its row: the first that is free where it begins. */
  stack(rows) {
    const free = Array.from({ length: rows }, () => []);
    this.lane = this.results.map((each) => {
      const own = free[Math.max(0, each.row)];
      const [begin, end] = [this.x(from(each)) - 5, this.x(when(each)) + 5];
      let lane = own.findIndex((until) => until < begin);
      if (lane < 0) lane = own.length < LANES_MAX ? own.length : own.indexOf(Math.min(...own));
      own[lane] = Math.max(end, own[lane] ?? 0);
      return lane;
    });
    this.lanes = free.map((each) => Math.max(1, each.length));
  }

  bar(each, place) {
    const [begin, end] = [this.x(from(each)), this.x(when(each))];
    if (end < this.left - 8 || begin > this.width) return null;
    const y = this.tops[Math.max(0, each.row)] + 21 + this.lane[place] * LANE - 3;
    const name = each.subscription;
    const marks = { class: `bar ${colour(this.names.indexOf(name))} ${each.kind}${name === this.chosen ? "" : " other"}` };
    const known = { role: "option", id: `bar-${place}`, "aria-label": this.words(each), "aria-selected": "false" };
    const from_ = Math.max(begin, this.left);
    return svg("g", { ...marks, ...known },
      end > from_ ? svg("line", { x1: from_, x2: end, y1: y, y2: y }) : null,
      svg("circle", { cx: Math.max(end, this.left), cy: y, r: 4 }));
  }

  ticks() {
    const { time, row } = this.run.events;
    const last = new Map();
    let path = "";
    for (let place = 0; place < time.length; place++) {
      const x = Math.round(this.x(time[place]) * 2) / 2;
      if (x < this.left || x > this.width || last.get(row[place]) === x) continue;
      last.set(row[place], x);
      path += `M${x} ${this.tops[row[place]] + 4}v9`;
    }
    return path;
  }

  axis(y) {
    const span = this.b - this.a;
    const wanted = (span / (this.width - this.left)) * 110;
    const calendar = dated(this.last);
    let step = calendar ? STEPS.find((each) => each >= wanted) : undefined;
    if (step === undefined) {
      const power = 10 ** Math.floor(Math.log10(wanted));
      step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= wanted);
      if (!calendar) step = Math.max(1, step);
    }
    const parts = [];
    for (let time = Math.ceil(this.a / step) * step; time <= this.b; time += step) {
      const x = this.x(time);
      if (x < this.left) continue;
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: 2, y2: y }));
      if (x < this.width - 40) parts.push(svg("text", { class: "axis", x, y: y + 16 }, this.label(time, step, calendar)));
    }
    return parts;
  }

  label(time, step, calendar) {
    if (!calendar) return number(time);
    const text = new Date(time / 1000).toISOString();
    if (step >= 86400 * SECOND) return text.slice(0, 10);
    if (step < SECOND) return text.slice(11, 23);
    return step < 60 * SECOND ? text.slice(11, 19) : text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
  }

  words(each) {
    const row = this.run.rows[each.row];
    const span = from(each) === when(each) ? instant(when(each)) : `${instant(from(each))} to ${instant(when(each))}`;
    const chance = each.probability === undefined ? "" : `, ${Math.round(each.probability * 100)} %`;
    return `${each.subscription}${each.kind === "match" ? "" : `, ${each.kind}`}${row ? `, ${row}` : ""}: ${span}${chance}`;
  }

  say(each) {
    this.caption.textContent = each ? this.words(each) : "";
  }

  choose(each, speak = true) {
    this.active = each;
    for (const bar of this.box.querySelectorAll("[aria-selected=true]")) bar.setAttribute("aria-selected", "false");
    const bar = each && this.box.querySelector(`#bar-${this.results.indexOf(each)}`);
    if (bar) {
      bar.setAttribute("aria-selected", "true");
      this.box.setAttribute("aria-activedescendant", bar.id);
    } else this.box.removeAttribute("aria-activedescendant");
    if (speak) this.say(each);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (step && this.results.length) {
      const here = this.results.indexOf(this.active);
      const next = here < 0 ? (step > 0 ? 0 : this.results.length - 1) : here + step;
      const each = this.results[Math.min(this.results.length - 1, Math.max(0, next))];
      const [middle, half] = [when(each), (this.b - this.a) / 2];
      if (middle < this.a || middle > this.b) {
        [this.a, this.b] = [middle - half, middle + half];
        this.paint();
      }
      this.choose(each);
    } else if (zoom) this.zoom(zoom);
    else if (event.key === "0") this.all();
    else if ((event.key === "Enter" || event.key === " ") && this.active) this.onmatch(this.active);
    else return;
    event.preventDefault();
  }

  /** What is below the pointer: a result, an event, or neither; and where. */
  below(event) {
    const area = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top + this.box.scrollTop];
    const row = this.tops.findIndex((top, at) => y >= top && y < (this.tops[at + 1] ?? 0));
    if (!this.run || row < 0 || x < this.left) return {};
    const near = (list, distance) => {
      let [best, least] = [null, 7];
      for (const each of list) {
        const far = distance(each);
        if (far < least) [best, least] = [each, far];
      }
      return best;
    };
    const found = { row, time: Math.round(this.time(x)) };
    const own = this.results.map((each, place) => [each, place]).filter(([each]) => Math.max(0, each.row) === row);
    const bar = near(own, ([each, place]) => {
      const off = Math.abs(y - (this.tops[row] + 18 + this.lane[place] * LANE));
      const [begin, end] = [this.x(from(each)), this.x(when(each))];
      return off < 6 ? Math.max(begin - x, x - end, 0) + off / 8 : 99;
    });
    if (bar) return { ...found, result: bar[0] };
    if (y > this.tops[row] + 17) return found;
    const { time, row: rows } = this.run.events;
    const event_ = near(time.keys(), (place) => (rows[place] === row ? Math.abs(this.x(time[place]) - x) : 99));
    return event_ === null ? found : { ...found, event: event_ };
  }

  click(event) {
    const { result, event: place, row, time } = this.below(event);
    if (result) {
      this.choose(result);
      this.onmatch(result);
    } else if (place !== undefined) this.onevent(place);
    else if (row !== undefined) this.ongap(row, time);
  }

  hover(event) {
    const { result, event: place, row, time } = this.below(event);
    if (result) this.say(result);
    else if (place !== undefined) {
      const { id, time: times } = this.run.events;
      this.caption.textContent = `event ${id[place]}, ${this.run.rows[row]}: ${instant(times[place])}`;
    } else this.caption.textContent = row === undefined ? "" : instant(time);
  }
}

const from = (each) => each.start ?? each.time;
const when = (each) => each.end ?? each.time;

function ends(times) {
  let [least, most] = [Infinity, -Infinity];
  for (const time of times) {
    if (time < least) least = time;
    if (time > most) most = time;
  }
  return times.length ? [least, most] : [];
}
