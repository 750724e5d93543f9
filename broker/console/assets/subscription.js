// The page of one subscription, live: its query, its automaton with what waits, its last matches and why, its forecasts.

import { Chart } from "./chart.js";
import { dated, draw, get, h, instant, number, several, values } from "./dom.js";
import { coloured } from "./highlight.js";
import { operating } from "./operating.js";
import { card, counted, empty, follow, percent, rate, say, span, table } from "./parts.js";
import { quality } from "./reliability.js";
import { why, whyNot } from "./reasons.js";
import { Tallies } from "./tally.js";
import { Timeline } from "./timeline.js";

const LISTED = 8;

export async function subscription(name, content, session) {
  const path = `/api/subscriptions/${encodeURIComponent(name)}`;
  const found = await get(path);
  document.title = `${name} – Foretell console`;
  const picture = h("div", { class: "diagram", tabindex: "0", role: "group", "aria-label": `The automaton of ${name}` });
  const caption = h("p", { class: "hint" });
  const facts = h("dl", { class: "facts" });
  const charts = [new Chart("Matches a minute", rate), new Chart("Runs that wait", number)];
  const waiting = card("Waiting runs");
  const forecasts = h("div", {});
  const matches = new Matches(name, path, found);
  const trying = session.playground ? [" · ", h("a", { href: `/playground?subscription=${encodeURIComponent(name)}` }, "Try a change in the playground")] : [];
  content.replaceChildren(
    h("p", {}, h("a", { href: "/subscriptions" }, "‹ All subscriptions"), trying),
    h("h2", { class: "name" }, name, " ", h("span", { class: "kind" }, found.language)),
    h("div", { class: "two wide" },
      card("Query", h("pre", { class: "query", tabindex: "0" }, coloured(found.query.trim()).map((runs) => runs.map(([text, style]) => (style ? h("span", { class: style }, text) : text))))),
      h("div", { class: "figures" }, charts.map((chart) => chart.element), h("section", { class: "figure plain", "aria-label": "Now" }, facts))),
    card("Pattern", picture, caption, lines("How it runs now, and what it shares", found.sharing), lines("How it is run alone", found.explain)),
    h("div", { class: "two wide" }, matches.element, matches.reasons),
    waiting, forecasts, await operating(name, found, session));
  if (found.svg) draw(picture, found.svg);
  else picture.append(empty("No picture."));
  const tallies = new Tallies(picture, found);
  follow(`${path}/live`, (look) => {
    if (look.gone) return say("This subscription is not there any more.", true);
    say(`${look.now === null ? "no event yet" : `events until ${instant(look.now)}`}${look.rest > 2 ? ` · looked at every ${Math.round(look.rest)} s, as it takes long` : ""}`);
    const waits = look.states.reduce((sum, [, , count]) => sum + count, 0);
    charts[0].add(look["per minute"] ?? undefined);
    charts[1].add(waits);
    facts.replaceChildren(...[["results", counted(look.results)], ["clients", number(look.clients)], ["queued results", number(look.queued)]]
      .flatMap(([title, text]) => [h("dt", {}, title), h("dd", {}, text)]));
    if (tallies.counted) tallies.show(look.states, look.arcs, look.results);
    caption.textContent = about(look, waits, tallies);
    runs(waiting, look, tallies);
    if (look.forecasts) forecasts.replaceChildren(card("Forecasts", quality(look.forecasts), told(look.found)));
    matches.show(look);
  });
}

function about(look, waits, tallies) {
  if (look.unlisted) return "Its executor keeps numbers of partial matches, not the matches themselves: no counts.";
  const most = look.more ? `the first ${number(look.looked)} partial matches that were looked at; there are more` : several(waits, "partial match", "partial matches");
  const arcs = look.arcs.length ? " On arcs: how often these have taken them." : "";
  return tallies.counted ? `On states: how many wait there, of ${most}.${arcs} At the end: results since the broker began.` : `${most[0].toUpperCase()}${most.slice(1)} wait.`;
}

const lines = (title, found) => found?.length ? h("details", {}, h("summary", {}, title), h("ul", { class: "lines" }, found.map((line) => h("li", {}, line)))) : null;

function runs(place, look, tallies) {
  const head = place.firstChild;
  if (!look.values) return place.replaceChildren(head, empty("You may not see the values of its events."));
  if (!look.runs.length) return place.replaceChildren(head, empty(look.unlisted ? "Its executor does not list them." : "None waits."));
  const keys = [...new Set(look.runs.flatMap((run) => Object.keys(run.key)))];
  const events = look.runs.some((run) => Object.keys(run.events).length);
  const chances = look.forecasts !== null;
  const shown = chances ? [...look.runs].sort((one, other) => (other.probability ?? -1) - (one.probability ?? -1)) : look.runs;
  const ids = (run) => Object.entries(run.events).map(([operand, numbers]) => h("span", { class: "value" }, h("i", {}, operand), ` ${short(numbers)}`));
  place.replaceChildren(head,
    table("Waiting runs", [...keys, "State", "#Age", ...(chances ? ["#P(match)"] : []), ...(events ? ["Events"] : [])], shown.map((run) => [
      ...keys.map((key) => String(run.key[key] ?? "")), tallies.state(run.automaton, run.state) ?? (run.state < 0 ? "–" : String(run.state)),
      look.now === null ? "–" : span(Math.max(0, look.now - run.begun)), ...(chances ? [percent(run.probability)] : []), ...(events ? [ids(run)] : [])])),
    h("p", { class: "hint" }, `The oldest ${number(look.runs.length)}${look.more ? ` of ${number(look.looked)} that were looked at` : ""}${chances ? ", the most probable first" : ""}. Age: in the time of events${dated(look.now ?? 0) ? "" : ", which here is no date"}.`));
}

const short = (numbers) => (numbers.length > 4 ? `${numbers.slice(0, 2).join(", ")} … ${numbers.at(-1)} (${numbers.length})` : numbers.join(", "));

/** What was foretold and what came true, since somebody looks. */
function told(found) {
  const outcomes = new Map(found.filter((each) => each.kind === "resolution").map((each) => [each.forecast, each]));
  const forecasts = found.filter((each) => each.kind === "forecast").reverse().slice(0, 20);
  if (!forecasts.length) return empty("Nothing was foretold since this page looks.");
  const outcome = (each) => {
    const known = outcomes.get(each.id);
    if (!known) return "open";
    return known.outcome === true ? h("span", { class: "yes" }, "came true") : known.outcome === false ? h("span", { class: "no" }, "did not") : "ended before";
  };
  return [h("h3", {}, "What was foretold"), table("What was foretold", ["Time", "Key", "#P", "Within", "Outcome"], forecasts.map((each) => [h("time", {}, instant(each.time)), String(each.run), percent(each.probability), String(each.within), outcome(each)]))];
}

/** The last matches on a timeline, and why each came or another did not. */
class Matches {
  constructor(name, path, found) {
    Object.assign(this, { name, path, keys: found.keys ?? [], answers: found.reasons, last: -1, count: -1 });
    this.caption = h("p", { class: "caption" });
    const place = h("div", {});
    this.pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.pause.setAttribute("aria-pressed", String(this.pause.getAttribute("aria-pressed") !== "true")) }, "Pause");
    this.listed = h("div", {}, empty("None since this page looks. They appear here as they come."));
    this.element = h("section", { class: "card", "aria-label": "Last matches" }, h("div", { class: "bar" }, h("h2", {}, "Last matches"), this.caption, this.pause), place, this.listed);
    this.title = h("h2", { tabindex: "-1" }, "Why");
    this.answer = h("div", { id: "reasons", tabindex: "0", role: "group", "aria-label": "Reasons", "aria-live": "polite" },
      empty(this.answers ? "Choose a match to see why it came, or ask below why none did." : "Reasons are found in the journal, and this broker has none."));
    this.reasons = h("section", { class: "card", "aria-label": "Why and why not" }, h("div", { class: "bar" }, this.title), this.answer, this.answers ? this.form() : null);
    this.timeline = new Timeline(place, this.caption, { onmatch: (each) => this.why(each), onevent: () => undefined, ongap: (row, time) => this.gap(row, time) });
    this.results = [];
  }

  form() {
    this.fields = this.keys.map((key) => h("input", { type: key.type === "int" || key.type === "float" ? "number" : "text", step: "any", size: "10", autocomplete: "off", name: key.name }));
    this.moment = h("input", { type: "text", size: "20", placeholder: "now", autocomplete: "off" });
    return h("form", { class: "ask-not", onsubmit: (event) => {
      event.preventDefault();
      this.whyNot();
    } }, this.keys.map((key, at) => h("label", {}, key.name, " ", this.fields[at])), h("label", {}, "As of ", this.moment), h("button", {}, "Why not"));
  }

  show(look) {
    if (this.pause.getAttribute("aria-pressed") === "true") return;
    const found = look.found.filter((each) => each.kind !== "resolution");
    if (!found.length || (found.at(-1).number === this.last && found.length === this.count)) return;
    [this.last, this.count] = [found.at(-1).number, found.length];
    const names = found.map((each) => this.row(each));
    const rows = [...new Set(names)].sort().slice(0, 12);
    this.results = found.map((each, at) => ({ ...each, row: Math.max(0, rows.indexOf(names[at])) }));
    const { timeline } = this;
    const [chosen, zoomed] = [timeline.active?.id, timeline.run && (timeline.b - timeline.a) < (timeline.last - timeline.first)];
    const [a, b] = [timeline.a, timeline.b];
    timeline.show({ rows, results: this.results, events: { id: [], time: [], row: [] } }, [this.name], this.name);
    if (zoomed) {
      [timeline.a, timeline.b] = [a, b];
      timeline.paint();
    }
    timeline.choose(this.results.find((each) => each.id === chosen) ?? null, false);
    const focused = document.activeElement?.dataset.match;
    const newest = this.results.filter((each) => each.kind === "match").reverse().slice(0, LISTED);
    const sourced = newest.some((each) => each.lineage);
    const valued = newest.some((each) => Object.keys(each.data ?? {}).length);
    this.listed.replaceChildren(newest.length ? table("Last matches", ["Ends", ...(valued ? ["Values"] : []), ...(sourced ? ["Events"] : []), ""], newest.map((each) => [
      h("time", {}, instant(each.end)), ...(valued ? [values(each.data)] : []), ...(sourced ? [short(each.lineage ?? [])] : []),
      this.answers ? h("button", { type: "button", class: "ask", "data-match": each.id, "aria-label": `Why at ${instant(each.end)}`, onclick: () => this.why(each) }, "Why") : null])) : "");
    if (focused) this.listed.querySelector(`[data-match="${CSS.escape(focused)}"]`)?.focus();
  }

  /** The row of a result: the value of its key, where it has it. */
  row(each) {
    if (each.run !== undefined) return String(each.run);
    for (const { name } of this.keys) {
      const own = Object.keys(each.data ?? {}).find((attribute) => attribute === name || attribute.endsWith(`_${name}`) || attribute.endsWith(`.${name}`));
      if (own) return String(each.data[own]);
    }
    return "";
  }

  why(each) {
    if (each.kind !== "match" || !this.answers) return;
    this.ask(`Why at ${instant(each.end)}`, `why?${new URLSearchParams({ match: each.id })}`, why);
  }

  gap(row, time) {
    if (!this.answers) return;
    this.moment.value = dated(time) ? instant(time).replace(" ", "T") : String(time);
    this.whyNot();
  }

  whyNot() {
    const key = this.keys.map((each, at) => [each.type, this.fields[at].value.trim()]);
    const query = new URLSearchParams();
    if (key.every(([, text]) => text))
      for (const [type, text] of key) query.append("key", JSON.stringify(type === "string" ? text : type === "bool" ? text === "true" : Number(text)));
    if (this.moment.value.trim()) query.append("time", this.moment.value.trim());
    const whose = query.has("key") ? ` ${key.map(([, text]) => text).join(", ")}` : "";
    this.ask(`Why not${whose}`, `why-not?${query}`, (found) => whyNot(found, `The partial matches${whose ? ` of${whose}` : ""} that came nearest.`));
  }

  async ask(title, query, parts) {
    const own = (this.asked = (this.asked ?? 0) + 1);
    this.title.textContent = title;
    this.answer.replaceChildren(empty("…"));
    let found;
    try {
      let answer = { again: true };
      while (answer.again && own === this.asked) answer = await get(`${this.path}/${query}`);
      if (answer.again) return;
      found = [...parts(answer), answer.events?.missing ? h("p", { class: "hint" }, `Looked at: ${answer.events.missing}.`) : ""];
    } catch (error) {
      found = [empty(error.message)];
    }
    if (own !== this.asked) return;
    this.answer.replaceChildren(...found);
    this.title.focus({ preventScroll: innerWidth >= 900 });
  }
}
