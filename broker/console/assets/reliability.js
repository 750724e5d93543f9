// How good forecasts were: what was said against what came true, and the figures.

import { h, number, svg } from "./dom.js";
import { counted, list, percent, table } from "./parts.js";

const SIDE = 220;
const [LEFT, TOP] = [56, 12];
const place = (share) => [LEFT + share * SIDE, TOP + (1 - share) * SIDE];
const fixed = (value) => (value === null || value === undefined ? "–" : String(Math.round(value * 10_000) / 10_000));

/** The diagram of triples: mean probability, share that came true, number. A circle's area is the number. */
export function diagram(found) {
  const most = Math.max(1, ...found.map(([, , count]) => count));
  const marks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const [x, y] = place(share);
    return [
      svg("line", { class: "grid", x1: LEFT, x2: LEFT + SIDE, y1: y, y2: y }), svg("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: TOP + SIDE }),
      svg("text", { class: "axis", x, y: TOP + SIDE + 16 }, percent(share)), svg("text", { class: "axis end", x: LEFT - 6, y: y + 4 }, percent(share))];
  });
  const points = found.map(([said, came, count]) => {
    const [x] = place(said);
    const [, y] = place(came);
    return svg("circle", { class: "point", cx: x, cy: y, r: 3 + 7 * Math.sqrt(count / most) });
  });
  const line = found.map(([said, came], at) => `${at ? "L" : "M"}${place(said)[0].toFixed(1)} ${place(came)[1].toFixed(1)}`).join("");
  const [first, last] = [place(0), place(1)];
  return svg("svg", { class: "reliability", viewBox: `0 0 ${LEFT + SIDE + 26} ${TOP + SIDE + 40}`, role: "img", "aria-label": "Reliability: the share that came true, by the probability that was said" },
    marks, svg("line", { class: "ideal", x1: first[0], y1: first[1], x2: last[0], y2: last[1] }), svg("path", { class: "trend", d: line || "M0 0" }), points,
    svg("text", { class: "axis", x: LEFT + SIDE / 2, y: TOP + SIDE + 36 }, "said"), svg("text", { class: "axis", x: 10, y: TOP + SIDE / 2, transform: `rotate(-90 10 ${TOP + SIDE / 2})` }, "came true"));
}

/** What there is to say of a subscription's forecasts. */
export function quality(found) {
  const words = found.calibrated === null ? "too few outcomes yet" : found.calibrated ? "yes" : "no: worse than always saying the base rate";
  return [
    h("div", { class: "beside" }, h("div", {}, diagram(found.reliability), h("p", { class: "hint" }, "On the line, as often came true as was said. A larger circle stands for more predictions. Those right after a match are told, but not counted here: that one match follows another is an easy question.")),
      list([
        ["Brier score", fixed(found.brier)], ["of the base rate alone", fixed(found.brier_base)], ["skill", percent(found.brier_skill)],
        ["predictions with an outcome", counted(found.predictions)], ["base rate", percent(found.base_rate)], ["calibration error", percent(found.ece)], ["area under the curve", fixed(found.auc)],
        ["calibrated", words], ["forecasts told", number(found.notices)], ["of these, came true", percent(found.precision)], ["matches foretold", percent(found.recall)],
        ["open now", number(found.outstanding)], ["horizon", String(found.within)], ["told above", percent(found.threshold)]])),
    h("details", {}, h("summary", {}, "The diagram as numbers"), found.reliability.length
      ? table("Reliability", ["#Said", "#Came true", "#Predictions"], found.reliability.map(([said, came, count]) => [percent(said), percent(came), number(count)])) : h("p", { class: "empty" }, "No outcome is known yet."))];
}
