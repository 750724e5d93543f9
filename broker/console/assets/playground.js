// The playground: subscriptions on the left, what they find in some events on the right, while one types.

import { at, colour, draw, get, h, instant, later, number, post, several, values } from "./dom.js";
import { Editor } from "./editor.js";
import { tried } from "./operating.js";
import { navigation } from "./pages.js";
import { link } from "./parts.js";
import { why, whyNot } from "./reasons.js";
import { Timeline } from "./timeline.js";

const LISTED = 50;
let session;
let chosen = { file: null, called: "", stream: "", time: "", note: "" };
let run = null;
let subscription = null;
let running = false;
let again = false;
let question = 0;

const ask = (name, more = {}) => {
  const { file, stream, time } = chosen;
  return post(`/playground/ask/${name}`, session.token, { text: editor.text, file, stream: stream || null, time: time || null, ...more });
};
const soon = later(200, go);
const editor = new Editor(at("editor"), {
  changed: soon,
  complete: async (line, column) => {
    try {
      return (await ask("complete", { line, column })).words;
    } catch {
      return [];
    }
  },
});
const timeline = new Timeline(at("timeline"), at("caption"), {
  onmatch: (result) => explain(result),
  onevent: (place) => notEvent(run.events.id[place], run.events.row[place]),
  ongap: (row, time) => notYet(row, time),
});

/** Runs what the editor has; changes meanwhile lead to one more run. */
async function go() {
  if (running) return void (again = true);
  running = true;
  document.body.classList.add("running");
  try {
    const text = editor.text;
    const found = await ask("run");
    if (text === editor.text) show({ ...found, text });
    else again = true;
  } catch (error) {
    at("status").textContent = error.message;
    at("status").className = "bad";
  } finally {
    running = false;
    document.body.classList.remove("running");
    if (again) {
      again = false;
      go();
    }
  }
}

function show(found) {
  editor.mark(found.findings);
  at("findings").replaceChildren(...found.findings.map((each) =>
    h("li", { class: each.severity }, h("button", { type: "button", onclick: () => editor.go(each.line, each.column) },
      h("b", {}, `${each.severity} in line ${each.line + 1}`), " ", each.message))));
  if (found.broken) {
    at("status").textContent = "The file cannot be read yet; below is what it found before.";
    at("status").className = "";
    return;
  }
  run = found;
  const names = run.subscriptions.map((each) => each.name);
  if (!names.includes(subscription)) subscription = run.subscriptions.find((each) => !each.hidden)?.name ?? null;
  const matches = run.subscriptions.reduce((sum, each) => sum + (each.counts.match ?? 0), 0);
  const events = several(run.events.id.length, "event");
  at("status").className = run.trouble ? "bad" : "";
  at("status").textContent = run.trouble
    ?? `${run.cut ? `the first ${events}` : events} of ${chosen.called || "no file"}${chosen.note} · ${several(matches, "match", "matches")} · ${number(run.ms)} ms`;
  chips(names);
  timeline.show(run, names, subscription);
  list(names);
  if (!at("events").hidden) events_(0);
  picture();
}

function chips(names) {
  const focused = document.activeElement?.getAttribute("role") === "radio";
  at("chips").replaceChildren(...run.subscriptions.map((each, place) => h("button", {
    type: "button", role: "radio", "aria-checked": String(each.name === subscription), class: `chip ${colour(place)}`,
    tabindex: each.name === subscription ? "0" : "-1", onclick: () => pick(each.name), onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      pick(names[(place + step + names.length) % names.length]);
    },
  }, h("span", { class: "dot", "aria-hidden": "true" }), each.name, h("small", {}, ` ${each.language} · ${number(each.counts.match ?? 0)}`))));
  if (focused) at("chips").querySelector("[aria-checked=true]")?.focus();
}

function pick(name) {
  subscription = name;
  const names = run.subscriptions.map((each) => each.name);
  chips(names);
  at("chips").querySelector("[aria-checked=true]").focus();
  timeline.show(run, names, subscription);
  list(names);
  picture();
}

let drawn = null; // what the diagram shows, or is about to show
async function picture() {
  const key = subscription === null ? null : JSON.stringify([editor.text, subscription]);
  if (key !== null && key === drawn) return;
  drawn = key;
  if (key === null) return noPicture("No subscription yet.");
  try {
    const found = await ask("diagram", { subscription });
    if (key !== drawn) return; // another one was asked for meanwhile
    draw(at("diagram"), found.svg);
    at("diagram").setAttribute("aria-label", `The automaton of ${subscription}`);
    at("explain").replaceChildren(...found.explain.map((line) => h("li", {}, line)));
  } catch (error) {
    if (key !== drawn) return;
    drawn = null;
    noPicture(error.message);
  }
}

function noPicture(why) {
  at("diagram").replaceChildren(h("p", { class: "empty" }, why));
  at("diagram").setAttribute("aria-label", "The automaton");
  at("explain").replaceChildren();
}

function list(names, most = LISTED) {
  const own = run.results.filter((each) => each.subscription === subscription || each.kind !== "match");
  if (!own.length) {
    const hint = chosen.file ? "No match in these events. Click an event or a gap on the timeline to see what stopped it." : "Choose an example, or open a file of events.";
    return at("matches").replaceChildren(h("p", { class: "empty" }, hint));
  }
  const rows = own.slice(0, most).map((each) => h("tr", {},
    h("td", {}, h("span", { class: `dot ${colour(names.indexOf(each.subscription))}`, "aria-hidden": "true" }), h("time", {}, instant(each.end ?? each.time ?? each.since))),
    h("td", {}, each.kind === "match" ? run.rows[each.row] ?? "" : each.kind),
    h("td", { class: "values" }, each.kind === "forecast" ? `${Math.round(each.probability * 100)} %` : values(each.data)),
    h("td", { class: "count" }, each.lineage ? number(each.lineage.length) : ""),
    h("td", {}, each.kind === "match" ? h("button", { type: "button", class: "ask", "aria-label": `Why ${each.subscription} at ${instant(each.end)}`, onclick: () => explain(each, true) }, "Why") : null)));
  const rest = own.length - most;
  at("matches").replaceChildren(
    h("table", {}, h("caption", { class: "unseen" }, `Matches of ${subscription}`),
      h("thead", {}, h("tr", {}, ["Ends", "Key", "Values", "Events", ""].map((each) => each ? h("th", { scope: "col" }, each) : h("td", {})))), h("tbody", {}, rows)),
    rest > 0 ? h("button", { type: "button", class: "more", onclick: () => list(names, most + 200) }, `${number(rest)} more`) : "",
    run.more > 0 && rest <= 0 ? h("p", { class: "empty" }, `${number(run.more)} further results are counted, but not listed.`) : "");
}

async function events_(begin) {
  if (!chosen.file || !run) return at("events").replaceChildren(h("p", { class: "empty" }, "Choose an example, or open a file of events."));
  try {
    const found = await ask("events", { begin });
    const page = found.events.length;
    const rows = found.events.map((each) => h("tr", {}, h("td", {}, String(each.id)), h("td", {}, h("time", {}, instant(each.time))), h("td", {}, each.stream),
      h("td", { class: "values" }, values(each.data)),
      h("td", {}, h("button", { type: "button", class: "ask", "aria-label": `Why not event ${each.id}`, onclick: () => notEvent(each.id, null, true) }, "Why not"))));
    const step = (label, to, off) => h("button", { type: "button", class: "quiet", disabled: off, onclick: () => events_(to) }, label);
    at("events").replaceChildren(
      h("table", {}, h("caption", { class: "unseen" }, "Events"), h("thead", {}, h("tr", {}, ["Id", "Time", "Stream", "Values", ""].map((each) => each ? h("th", { scope: "col" }, each) : h("td", {})))), h("tbody", {}, rows)),
      h("p", { class: "pages" }, step("‹ Earlier", Math.max(0, begin - 100), begin === 0), ` ${number(begin + 1)} to ${number(begin + page)} of ${number(found.total)} `, step("Later ›", begin + page, begin + page >= found.total)));
  } catch (error) {
    at("events").replaceChildren(h("p", { class: "empty" }, error.message));
  }
}

/** Shows an answer below a title; a later question wins. */
async function reason(title, name, more, parts, jump) {
  const own = ++question;
  at("why-title").textContent = title;
  at("reasons").replaceChildren(h("p", { class: "empty" }, "…"));
  if (jump || innerWidth < 900) {
    at("why-title").focus({ preventScroll: true });
    at("why-title").scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
  let found;
  try {
    found = parts(await ask(name, more));
  } catch (error) {
    found = [h("p", { class: "empty" }, error.message)];
  }
  if (own === question) at("reasons").replaceChildren(...found);
}

function explain(result, jump) {
  if (result.kind !== "match") return;
  reason(`Why at ${instant(result.end)}`, "why", { subscription: result.subscription, match: result.id }, why, jump);
}

function notEvent(id, row, jump) {
  const about = `What event ${id} could have become for ${subscription}, and what stopped it.`;
  if (subscription) reason(`Why not event ${id}`, "why-not", { subscription, wanted: [id] }, (found) => whyNot(found, about), jump);
}

function notYet(row, time) {
  const about = `The partial matches of ${subscription} that came nearest, as things stood at ${instant(time)}.`;
  if (subscription) reason(`Why not ${run.rows[row] ?? ""} by ${instant(time)}`, "why-not", { subscription, row, until: time }, (found) => whyNot(found, about));
}

function choose(found) {
  chosen = { file: found.events, called: found.file, stream: found.stream ?? "", time: found.time ?? "", note: found.more ? ", the newest ones" : "" };
  at("stream").value = chosen.stream;
  at("time").value = chosen.time;
  at("first").disabled = !chosen.file;
  at("why-title").textContent = "Why";
  at("reasons").replaceChildren(h("p", { class: "empty" }, "Choose a match to see why it came, an event or a gap to see what stopped one."));
  if (found.text !== undefined && found.text !== null) editor.text = found.text;
}

async function first() {
  const found = await ask("first");
  editor.text = found.text;
  at("stream").value = chosen.stream = found.stream ?? "";
  at("time").value = chosen.time = found.time ?? "";
}

async function upload(file) {
  choice++;
  at("status").textContent = `reading ${file.name} …`;
  const found = await post(`/playground/upload?name=${encodeURIComponent(file.name)}`, session.token, file, "application/octet-stream");
  at("examples").value = "";
  choose({ ...found, text: null });
  subscription = null;
  const guessed = await ask("first").catch((error) => ({ error }));
  const own = !editor.text.trim() || untouched === editor.text;
  if (!guessed.error) {
    chosen.stream = guessed.stream ?? "";
    chosen.time = guessed.time ?? "";
    if (own) editor.text = untouched = guessed.text;
    else if (run && !Object.keys(run.streams).includes(chosen.stream)) chosen.stream = "";
    at("stream").value = chosen.stream;
    at("time").value = chosen.time;
  }
  await go();
  if (guessed.error) {
    at("status").textContent = guessed.error.message;
    at("status").className = "bad";
  }
}

/** Takes events of the broker's journal; the editor gets their streams, unless somebody has written in it. */
async function journal(streams, keep = false) {
  choice++;
  const until = at("until").value ? Date.parse(`${at("until").value}Z`) * 1_000 : null;
  at("status").textContent = "reading the journal …";
  const found = await post("/playground/journal", session.token, { streams, minutes: Number(at("minutes").value), until });
  const own = keep || (editor.text.trim() && editor.text !== untouched);
  at("examples").value = "";
  choose({ ...found, text: own ? null : found.text });
  if (!own) {
    untouched = editor.text;
    subscription = null;
  }
  await go();
}

/** What there is beside a broker: its pages, and the journal. */
async function beside() {
  const [own, broker] = await Promise.all([get("/api/session"), get("/playground/broker")]);
  at("nav").hidden = false;
  navigation(at("nav"), own);
  subscribing(own.writes);
  at("journal").hidden = !broker.journal || !broker.streams.length;
  at("streams").replaceChildren(...broker.streams.map((name) => h("option", { value: name, selected: broker.streams.length === 1 }, name)));
  at("take").addEventListener("click", trying(async () => {
    const streams = [...at("streams").selectedOptions].map((each) => each.value);
    if (!streams.length) throw new Error("Choose a stream of the journal.");
    await journal(streams);
    at("journal").open = false;
  }));
  return broker;
}

/** The button that makes the chosen subscription one of the broker, as its user, after a dry run. */
function subscribing(writes) {
  at("subscribing").hidden = false;
  if (!writes) return at("subscribe").replaceChildren(h("button", { type: "button", disabled: true }, "Subscribe: this console is read-only"));
  at("subscribe").replaceChildren(tried("Subscribe", () => {
    const own = run?.subscriptions.find((each) => each.name === subscription);
    if (!own || run.text !== editor.text) throw new Error("Expected a file without mistakes, and a subscription of it that is chosen.");
    return ["/api/subscriptions", { name: own.name, language: own.language, query: own.query, ...own.options }, session.token];
  }, () => h("span", {}, "It is subscribed: ", link(subscription)), at("outcome")));
}

/** Opens a subscription of the broker, on what its streams have had in the journal. */
async function opened(name, broker) {
  const found = await get(`/playground/subscriptions/${encodeURIComponent(name)}`);
  editor.text = found.text;
  for (const each of at("streams").options) each.selected = found.streams.includes(each.value);
  if (broker.journal && found.streams.length) await journal(found.streams, true);
  else choose({ events: null, file: "" });
  await go();
}

let untouched = "";
let choice = 0;
async function example(name) {
  const own = ++choice;
  const found = await get(`/playground/examples/${encodeURIComponent(name)}`);
  if (own !== choice) return; // somebody has chosen something else meanwhile
  subscription = null;
  choose(found);
  untouched = editor.text;
  await go();
}

const trying = (action) => async (...given) => {
  try {
    await action(...given);
  } catch (error) {
    at("status").textContent = error.message;
    at("status").className = "bad";
  }
};

function tabs() {
  const both = [at("tab-matches"), at("tab-events")];
  const pick = (tab) => both.forEach((each) => {
    each.setAttribute("aria-selected", String(each === tab));
    each.tabIndex = each === tab ? 0 : -1;
    at(each.getAttribute("aria-controls")).hidden = each !== tab;
    if (each === tab && tab.id === "tab-events") events_(0);
  });
  both.forEach((tab, place) => {
    tab.addEventListener("click", () => pick(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      pick(both[1 - place]);
      both[1 - place].focus();
    });
  });
}

async function begin() {
  try {
    session = await get("/playground/session");
  } catch (error) {
    if (error.status === 401) location.href = "/"; // where one signs in
    throw error;
  }
  const { given } = session;
  at("examples").replaceChildren(
    h("option", { value: "" }, given.text || given.events ? "your own" : "choose"),
    ...session.examples.map((each) => h("option", { value: each.name }, each.title)));
  at("examples").addEventListener("change", trying((event) => event.target.value && example(event.target.value)));
  at("open").addEventListener("click", () => at("file").click());
  at("file").addEventListener("change", trying(async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) await upload(file);
  }));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", trying(async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) await upload(file);
  }));
  for (const name of ["stream", "time"])
    at(name).addEventListener("input", () => {
      chosen[name] = at(name).value.trim();
      soon();
    });
  at("first").addEventListener("click", trying(async () => {
    await first();
    await go();
  }));
  at("format").addEventListener("click", trying(async () => {
    editor.text = (await ask("format")).text;
    await go();
  }));
  at("save").addEventListener("click", () => {
    const link = h("a", { href: URL.createObjectURL(new Blob([editor.text])), download: "subscriptions.toml" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  });
  at("all").addEventListener("click", () => timeline.all());
  at("closer").addEventListener("click", () => timeline.zoom(0.5));
  at("farther").addEventListener("click", () => timeline.zoom(2));
  at("earlier").addEventListener("click", () => timeline.move(-0.4));
  at("later").addEventListener("click", () => timeline.move(0.4));
  tabs();
  const broker = session.console ? await beside() : null;
  const wanted = new URLSearchParams(location.search).get("subscription");
  if (broker && wanted) await opened(wanted, broker);
  else if (given.text !== null || given.events !== null) {
    choose({ ...given, text: given.text ?? "" });
    await go();
  } else {
    at("examples").value = session.examples[0].name;
    await example(session.examples[0].name);
  }
}

trying(begin)();
