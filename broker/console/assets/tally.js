// Numbers on the picture of an automaton: how many runs wait in a state, how often an arc was taken.

import { number, svg } from "./dom.js";

/** `places` and `ways`: automaton, state or arc, and the number of its part of the picture; `ends`: those of matches. */
export class Tallies {
  constructor(picture, { places = [], ways = [], ends = [] }) {
    Object.assign(this, { picture, places, ways, ends });
    this.known = new Map();
  }

  get counted() {
    return this.places.length > 0;
  }

  /** The text of a state, as the picture has it. */
  state(automaton, state) {
    const place = this.places.find(([own, at]) => own === automaton && at === state);
    return place && (this.part("state", place[2])?.querySelector("title")?.textContent.split(":")[0] ?? null);
  }

  part(kind, at) {
    return this.picture.querySelector(`[data-${kind}="${at}"]`);
  }

  /** `states` and `arcs`: triples of automaton, state or arc, and number; `results` at the ends. */
  show(states, arcs, results) {
    const wanted = new Map(this.places.filter(([, state]) => state > 0).map(([, , at]) => [`state ${at}`, 0]));
    const add = (kind, table, found) => {
      for (const [automaton, own, count] of found)
        for (const [other, which, at] of table)
          if (other === automaton && which === own) wanted.set(`${kind} ${at}`, (wanted.get(`${kind} ${at}`) ?? 0) + count);
    };
    add("state", this.places, states);
    add("arc", this.ways, arcs);
    if (results !== null) for (const at of this.ends) wanted.set(`state ${at}`, results);
    for (const [key, each] of this.known) if (!wanted.has(key)) {
      each.mark.remove();
      this.known.delete(key);
    }
    for (const [key, count] of wanted) this.mark(key, count);
  }

  mark(key, count) {
    const before = this.known.get(key);
    if (before?.count === count) return;
    before?.mark.remove();
    const [kind, at] = key.split(" ");
    const part = this.part(kind, at);
    if (!part) return;
    const [x, y] = kind === "state" ? corner(part) : onArc(part);
    const text = number(count);
    const wide = 10 + 7 * text.length;
    const mark = svg("g", { class: `tally on-${kind}${count ? "" : " none"}${before && count > before.count ? " more" : ""}`, transform: `translate(${x} ${y})` },
      svg("rect", { x: -wide / 2, y: -9, width: wide, height: 18, rx: 9 }), svg("text", { y: 4 }, text));
    part.append(mark);
    this.known.set(key, { count, mark });
  }
}

function corner(part) {
  const box = part.querySelector("rect").getBBox();
  return [box.x + box.width - 6, box.y + box.height];
}

/** Beside the label of an arc, or in its middle. */
function onArc(part) {
  const label = part.querySelector("rect.paper");
  if (label) {
    const box = label.getBBox();
    return [box.x + box.width / 2, box.y + box.height + 9];
  }
  const path = part.querySelector("path");
  if (!path) {
    const box = part.getBBox();
    return [box.x + box.width + 12, box.y + box.height / 2];
  }
  const middle = path.getPointAtLength(path.getTotalLength() / 2);
  return [middle.x, middle.y];
}
