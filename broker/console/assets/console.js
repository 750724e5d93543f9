// The console: an overview, streams, subscriptions and one of them, clients. A page each, all from one file.

import { Chart } from "./chart.js";
import { at, get, h, instant, later, number, post, several, values } from "./dom.js";
import { publishing } from "./operating.js";
import { navigation } from "./pages.js";
import { bytes, card, counted, empty, follow as followed, languages, link, list, micros, rate, say, seconds, table } from "./parts.js";
import { costs, program } from "./program.js";
import { subscribing } from "./subscribing.js";
import { subscription } from "./subscription.js";
import { cursors, refusals, users } from "./watching.js";

const content = at("content");
let session;

/** Calls with each look at the broker. */
const follow = (action) => followed("/api/live", (look) => {
  say(`up ${seconds(look["up s"] ?? 0)} · ${new Date(look.at / 1_000).toISOString().slice(11, 19)} UTC`);
  action(look);
});

const GROUPS = [
  ["Clients and queues", [["sessions", "sessions", number], ["queued results", "queued", number], ["queued bytes", "queued bytes", bytes], ["missed a second", "missed/s", rate], ["denied a second", "denied/s", rate]]],
  ["Subscriptions", [["streams", "streams", number], ["subscriptions", "subscriptions", number], ["states", "states", number], ["runs", "runs", number]]],
  ["Order of events", [["late events a second", "late/s", rate], ["withdrawn a second", "withdrawn/s", rate], ["retractions a second", "retractions/s", rate], ["events not final", "not final", number], ["finality behind", "finality behind us", micros]]],
];

function overview() {
  const charts = [["Events a second", "events/s", rate], ["Results a second", "results/s", rate], ["Notifications a second", "notifications/s", rate], ["Batch latency, p99", "batch p99 us", micros]]
    .map(([title, name, shown]) => [name, new Chart(title, shown)]);
  const groups = GROUPS.map(([title, rows]) => [card(title), rows]);
  const others = card("Journal, checkpoints, memory");
  const lists = h("div", { class: "two" });
  content.replaceChildren(h("h2", { class: "unseen" }, "Overview"), h("div", { class: "figures" }, charts.map(([, chart]) => chart.element)), h("div", { class: "three" }, groups.map(([element]) => element), others), lists);
  follow((look) => {
    for (const [name, chart] of charts) chart.add(look[name]);
    for (const [element, rows] of groups)
      element.replaceChildren(element.firstChild, list(rows.filter(([, name]) => look[name] !== undefined).map(([title, name, shown]) => [title, shown(look[name])])));
    const stored = look.journal;
    others.replaceChildren(others.firstChild, list([
      ...(stored ? [["bytes in the journal", bytes(stored.bytes)], ["segments", number(stored.segments)], ["records that are not durable yet", number(stored.position - stored.durable)],
        ["checkpoints made", number(stored.checkpoints_made)], ["newest checkpoint at record", number(stored.checkpoint)]] : [["journal", "none: all is in memory"]]),
      ...(look["memory bytes"] ? [["memory of the process", bytes(look["memory bytes"])]] : []),
      ["batches that wait", number(look.loop?.waiting ?? 0)]]));
    lists.replaceChildren(...["streams", "subscriptions"].map((title) => {
      const found = Object.entries(look[`${title} by name`] ?? {}).slice(0, 10);
      const busy = title === "streams" ? "events/s" : "results/s";
      return card(`Busiest ${title}`, found.length ? table(title, ["Name", `#${busy}`], found.map(([name, row]) => [title === "streams" ? name : link(name), rate(row[busy] ?? 0)])) : empty("Nothing has happened yet."));
    }));
  });
}

async function streams() {
  const found = await get("/api/streams");
  const rates = new Map();
  const rows = found.map((each) => {
    const cell = h("span", {}, "–");
    rates.set(each.name, cell);
    return [h("div", {}, h("b", {}, each.name), each.held_back ? h("p", { class: "warned" }, each.held_back) : null), h("span", {}, Object.entries(each.attributes).map(([name, type]) => h("span", { class: "value" }, name, " ", h("i", {}, type)))),
      each.key ?? "", each.disorder, cell, number(each.refused), h("button", { type: "button", class: "ask", onclick: () => tail(each), "aria-label": `Tail ${each.name}` }, "Tail")];
  });
  const tailed = h("div", { id: "tail" });
  content.replaceChildren(card("Streams", rows.length ? table("Streams", ["Name", "Attributes", "Key", "Order", "#events/s", "#Refused", "Look"], rows) : empty("No stream yet: a client declares one, or the configuration.")), tailed);
  if (session.admin) follow((look) => {
    for (const [name, cell] of rates) cell.textContent = rate(look["streams by name"]?.[name]?.["events/s"] ?? 0);
  });
}

let tailing = 0;
function tail(stream) {
  const name = stream.name;
  const own = ++tailing;
  const filter = h("input", { type: "search", placeholder: "name or value", size: "18" });
  const pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    const paused = pause.getAttribute("aria-pressed") !== "true";
    pause.setAttribute("aria-pressed", String(paused));
  } }, "Pause");
  const rows = h("div", {});
  const known = new Map();
  at("tail").replaceChildren(h("section", { class: "card", "aria-label": `Last events of ${name}` }, h("div", { class: "bar" }, h("h2", { tabindex: "-1", id: "tail-title" }, `Last events of ${name}`), h("label", {}, "Filter ", filter), pause), rows),
    h("div", { class: "two" }, session.writes && stream.may_publish ? publishing(name, stream.attributes, session.token) : null, refusals(name)));
  at("tail-title").focus();
  const show = () => {
    const wanted = filter.value.toLowerCase();
    const shown = [...known.entries()].reverse().filter(([id, each]) => `${id} ${JSON.stringify(each.data)}`.toLowerCase().includes(wanted)).slice(0, 100);
    rows.replaceChildren(shown.length ? table(`Last events of ${name}`, ["Id", "Time", "Values"], shown.map(([id, each]) => [id, h("time", {}, instant(each.time)), values(each.data)])) : empty("No event that fits."));
  };
  filter.addEventListener("input", show);
  const look = async () => {
    if (own !== tailing) return;
    try {
      if (pause.getAttribute("aria-pressed") !== "true" && !document.hidden) {
        for (const [id, each] of Object.entries(await get(`/api/streams/${encodeURIComponent(name)}/events`))) known.set(id, each);
        while (known.size > 500) known.delete(known.keys().next().value);
        show();
      }
    } catch (error) {
      rows.replaceChildren(empty(error.message));
    }
    setTimeout(look, 1_000);
  };
  look();
}

function subscriptions() {
  const known = new URLSearchParams(location.search);
  let page = Number(known.get("page")) || 1;
  const search = h("input", { type: "search", id: "search", value: known.get("search") ?? "", size: "26", autocomplete: "off", spellcheck: "false" });
  const language = languages(known.get("language"), { id: "language" });
  const place = h("div", {});
  content.replaceChildren(h("section", { class: "card", "aria-label": "Subscriptions" }, h("div", { class: "bar" }, h("h2", {}, "Subscriptions"), h("label", {}, "Language ", language), h("label", {}, "Search names ", search),
    session.writes ? h("a", { class: "act", href: "/subscribe" }, "Subscribe…") : null), place));
  let asked = 0;
  let shown = "";
  let cells = [];
  const numbers = (each) => [each["per minute"] === null ? "–" : rate(each["per minute"]), counted(each.results), number(each.clients), number(each.queued)];
  const show = async () => {
    const own = ++asked;
    const query = new URLSearchParams({ search: search.value, language: language.value, page: String(page) });
    try {
      const found = await get(`/api/subscriptions?${query}`);
      if (own !== asked) return;
      history.replaceState(null, "", search.value || language.value || page > 1 ? `?${query}` : location.pathname);
      const same = JSON.stringify([page, found.total, found.all, found.entries.map((each) => each.name)]);
      if (same === shown) return cells.forEach((row, at) => numbers(found.entries[at]).forEach((text, place) => (row[place].textContent = text)));
      shown = same;
      cells = found.entries.map((each) => numbers(each).map((text) => h("span", {}, text)));
      const cost = session.admin ? costs(found.entries.map((each) => each.name)) : null;
      const text = (each) => h("code", { class: "short" }, each.query.trim().replace(/\s+/g, " ").slice(0, 160));
      const rows = found.entries.map((each, at) => [link(each.name), each.language, cost ? h("div", {}, text(each), cost.how[at]) : text(each), ...(cost ? [cost.runs[at]] : []), ...cells[at]]);
      const pages = Math.max(1, Math.ceil(found.total / found.size));
      const step = (label, to) => h("button", { type: "button", class: "quiet", disabled: to < 1 || to > pages, onclick: () => {
        page = to;
        show();
      } }, label);
      place.replaceChildren(
        rows.length ? table("Subscriptions", ["Name", "Language", "Query", ...(cost ? ["#Waiting runs"] : []), "#A minute", "#Results", "#Clients", "#Queued"], rows) : empty(found.all ? "No subscription is like that." : "No subscription yet."),
        h("p", { class: "pages" }, step("‹ Before", page - 1), ` page ${number(page)} of ${number(pages)}, ${several(found.total, "subscription")} `, step("Next ›", page + 1)));
      say("");
    } catch (error) {
      if (own !== asked) return;
      shown = "";
      place.replaceChildren(empty(error.message));
    }
  };
  const anew = () => {
    page = 1;
    show();
  };
  search.addEventListener("input", later(200, anew));
  language.addEventListener("change", anew);
  show();
  setInterval(() => !document.hidden && show(), 2_000);
}

async function clients() {
  const place = card("Clients");
  content.replaceChildren(place, await cursors());
  const show = async () => {
    try {
      const found = await get("/api/sessions");
      const rows = found.map((each) => [String(each.number), each.user, each.software, each.connected ? "connected" : "away", number(each.subscriptions), number(each.queued), seconds(each.silent_seconds)]);
      place.replaceChildren(place.firstChild, rows.length ? table("Clients", ["Session", "User", "Software", "State", "#Subscriptions", "#Queued", "#Silent for"], rows) : empty("No client is connected."));
      say("");
    } catch (error) {
      place.replaceChildren(place.firstChild, empty(error.message));
    }
  };
  await show();
  setInterval(() => !document.hidden && show(), 2_000);
}

function signIn() {
  const token = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true, size: "30" });
  const wrong = h("p", { role: "alert", class: "bad" });
  const form = h("form", { onsubmit: async (event) => {
    event.preventDefault();
    try {
      await post("/api/sign-in", session.token, { token: token.value });
      location.reload();
    } catch (error) {
      wrong.textContent = error.message;
      token.select();
    }
  } }, h("p", {}, h("label", { for: "token" }, "Your token")), token, " ", h("button", {}, "Sign in"), wrong);
  content.replaceChildren(h("section", { class: "card sign-in", "aria-label": "Sign in" }, h("h2", {}, "Sign in"), form));
  token.focus();
}

async function begin() {
  session = await get("/api/session");
  navigation(at("nav"), session);
  if (session.user === null) return signIn();
  if (session.needed)
    at("who").append(session.user, " ", h("button", { type: "button", class: "quiet", onclick: async () => {
      await post("/api/sign-out", session.token, {});
      location.reload();
    } }, "Sign out"));
  const path = location.pathname;
  if (path === "/") {
    if (session.admin) overview();
    else content.replaceChildren(card("Overview", empty(`The numbers of the broker are for administrators; ${session.user} is none. Streams and subscriptions are there.`)));
  } else if (path === "/streams") await streams();
  else if (path === "/clients") await clients();
  else if (path === "/subscriptions") subscriptions();
  else if (path === "/subscribe") await subscribing(content, session);
  else if (path === "/program") await program(content);
  else if (path === "/users") await users(content);
  else await subscription(decodeURIComponent(path.slice("/subscriptions/".length)), content, session);
}

begin().catch((error) => content.replaceChildren(card("Not here", empty(error.message))));
