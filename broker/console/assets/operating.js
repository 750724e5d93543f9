// Changes by the console: a form for an event, another text, other constants, arcs, the end; and what has changed.
// Each is tried first in a copy of the broker, and says what it would do.

import { at, draw, get, h, instant, later, number, post, several, values } from "./dom.js";
import { Editor } from "./editor.js";
import { coloured } from "./highlight.js";
import { card, empty, table } from "./parts.js";

const path = (name, what) => `/api/subscriptions/${encodeURIComponent(name)}/${what}`;

/** A button that does something slow once at a time, and a line that says what came of it. */
export function button(text, action, kind = "") {
  const made = h("button", { type: "button", class: kind, onclick: async () => {
    made.disabled = true;
    try {
      await action();
    } finally {
      made.disabled = false;
    }
  } }, text);
  return made;
}

/** A refusal, with its place in a text. */
export function refusal(error) {
  const found = error.found ?? {};
  return h("div", { class: "bad" }, h("p", {}, found.code ? `Refused (${found.code}): ` : "Refused: ", error.message), found.excerpt ? h("pre", { class: "excerpt" }, found.excerpt) : null);
}

/** What a dry run has found. */
export function rehearsed(found) {
  const parts = [];
  const { before, after } = found;
  const results = Object.entries(found.by_subscription).map(([name, count]) => `${several(count, "result")} of ${name}`);
  if (before && after) {
    const change = (title, one, other, unit) => parts.push(one === other ? null : h("li", {}, `${title}: ${one ?? "not counted"} → ${other ?? "not counted"}${unit ?? ""}`));
    change("waiting runs", before.runs, after.runs);
    change("states", before.states, after.states);
    change("updates of arcs", before.updates.length, after.updates.length);
    if (before.query !== after.query) parts.push(h("li", {}, "its text: ", differing(before.query, after.query)));
    if (before.clients) parts.push(h("li", {}, `it concerns ${several(before.clients, "client")} that ${before.clients === 1 ? "has" : "have"} it`));
  } else if (before) parts.push(h("li", {}, `the subscription ends${before.clients > 1 ? `, also for ${several(before.clients - 1, "other client")}` : ""}${before.runs ? `, with ${several(before.runs, "waiting run")}` : ""}`));
  else if (after) parts.push(h("li", {}, `a new subscription in ${after.language}${after.states ? `, of ${several(after.states, "state")}` : ""}`));
  for (const warning of found.answer?.warnings ?? []) parts.push(h("li", {}, `warning: ${warning}`));
  parts.push(h("li", {}, results.length ? `at once: ${results.join(", ")}` : "no result at once"));
  if (found.retractions) parts.push(h("li", { class: "warned" }, `${several(found.retractions, "earlier result")} would be withdrawn`));
  const first = found.first.slice(0, 10).map((each) => [each.kind ?? "match", each.end === undefined ? "" : instant(each.end), h("span", {}, values(each.data))]);
  const picture = h("div", { class: "diagram", tabindex: "0", role: "group", "aria-label": "The automaton as it would be" });
  if (found.svg) draw(picture, found.svg);
  return h("div", { class: "outcome" }, h("p", {}, h("b", {}, "Dry run: nothing has changed. "), "It would be accepted:"), h("ul", {}, parts), first.length ? table("First results", ["Kind", "Time", "Values"], first) : null, found.svg ? picture : null);
}

/** The lines that go and those that come. */
function differing(before, after) {
  const [one, other] = [before.trim().split("\n"), after.trim().split("\n")];
  const gone = one.filter((line) => !other.includes(line)).map((line) => h("del", {}, line, "\n"));
  const come = other.filter((line) => !one.includes(line)).map((line) => h("ins", {}, line, "\n"));
  return h("pre", { class: "excerpt" }, gone, come);
}

/** Two buttons: one tries, the other does it, once that very request was tried. `made` gives path and body. */
export function tried(what, made, done, place) {
  let fits = "";
  const send = async (dry) => {
    try {
      const [to, body, token] = made();
      const asked = JSON.stringify([to, body]);
      if (!dry && asked !== fits) throw new Error("it has been edited since its dry run: try it again first");
      place.replaceChildren(h("p", { class: "empty" }, dry ? "Trying it in a copy of the broker…" : "Sending…"));
      const found = await post(to, token, { ...body, dry });
      place.replaceChildren(dry ? rehearsed(found) : h("p", { class: "good" }, done(found)));
      fits = dry ? asked : "";
    } catch (error) {
      fits = "";
      place.replaceChildren(refusal(error));
    }
    apply.disabled = fits === "";
  };
  const apply = h("button", { type: "button", disabled: true, onclick: () => {
    apply.disabled = true;
    send(false);
  } }, what);
  return h("p", { class: "acts" }, button("Dry run", () => send(true)), " ", apply);
}

/** A form with a field for each attribute of a stream. */
export function publishing(stream, attributes, token) {
  const outcome = h("div", { role: "status" });
  const fields = new Map();
  const wrong = (id) => h("span", { class: "bad", id: `${id}-wrong` });
  const field = (name, type) => {
    const id = `field-${name}`;
    const plain = type.replace("?", "");
    const shared = { id, "aria-describedby": `${id}-wrong`, autocomplete: "off" };
    const input = plain === "bool"
      ? h("select", shared, [...(type.endsWith("?") ? [""] : []), "true", "false"].map((each) => h("option", { value: each }, each || "null")))
      : h("input", { ...shared, type: "text", inputmode: { int: "numeric", float: "decimal" }[plain], placeholder: type.endsWith("?") ? "null" : null, spellcheck: "false" });
    fields.set(name, input);
    return h("div", { class: "field" }, h("label", { for: id }, name, " ", h("i", {}, type)), input, wrong(id));
  };
  const inputs = Object.entries(attributes).map(([name, type]) => field(name, type));
  const time = h("input", { id: "event-time", type: "text", placeholder: "now", "aria-describedby": "event-time-wrong", autocomplete: "off" });
  const send = async (dry) => {
    for (const input of [...fields.values(), time]) {
      input.removeAttribute("aria-invalid");
      at(`${input.id}-wrong`).textContent = "";
    }
    const filled = Object.fromEntries([...fields].map(([name, input]) => [name, input.value === "" && attributes[name].endsWith("?") ? null : input.value]));
    try {
      const found = await post(`/api/streams/${encodeURIComponent(stream)}/events`, token, { time: time.value || null, values: filled, dry });
      outcome.replaceChildren(dry ? rehearsed(found) : h("p", { class: "good" }, `Accepted as event ${found.answer.first_id}.`));
    } catch (error) {
      const input = error.found?.field === "time" ? time : fields.get(error.found?.field);
      if (input) {
        input.setAttribute("aria-invalid", "true");
        at(`${input.id}-wrong`).textContent = error.message;
        input.focus();
        outcome.replaceChildren();
      } else outcome.replaceChildren(refusal(error));
    }
  };
  const form = h("form", { class: "fields", onsubmit: (event) => {
    event.preventDefault();
    send(false);
  } }, inputs, h("div", { class: "field" }, h("label", { for: "event-time" }, "time ", h("i", {}, "microseconds or ISO-8601")), time, wrong("event-time")),
    h("p", { class: "acts" }, button("Dry run", () => send(true)), " ", h("button", {}, "Publish")));
  return h("section", { class: "card", "aria-label": `Publish on ${stream}` }, h("div", { class: "bar" }, h("h2", {}, `Publish on ${stream}`)), form, outcome);
}

/** Another text for a subscription, or other constants in it. */
export function changing(name, found, session) {
  const outcome = h("div", { role: "status" });
  const place = h("div", {});
  const parameters = h("div", { class: "fields" });
  const editor = new Editor(place, { changed: later(300, () => constants()), id: "text", label: `The text of ${name}`, described: "constants-hint", inside: "'''" });
  const keep = h("input", { type: "checkbox", id: "keep-runs" });
  const constants = () => {
    const lines = coloured(editor.text);
    const inputs = [];
    lines.forEach((runs, row) => runs.forEach(([text, style], column) => {
      if (style !== "number" && style !== "text") return;
      const id = `constant-${row}-${column}`;
      const before = runs.slice(0, column).map(([part]) => part).join("").slice(-28).trim() || `line ${row + 1}`;
      const input = h("input", { id, type: "text", value: text, size: String(Math.max(6, text.length)), spellcheck: "false", autocomplete: "off", oninput: () => {
        runs[column][0] = input.value;
        editor.text = lines.map((each) => each.map(([part]) => part).join("")).join("").replace(/\n$/, "");
      } });
      inputs.push(h("div", { class: "field" }, h("label", { for: id }, h("code", {}, before)), input));
    }));
    parameters.replaceChildren(...inputs.slice(0, 40));
  };
  editor.text = found.query.trim();
  constants();
  const made = () => [path(name, "text"), { language: found.language, query: editor.text, keep_runs: keep.checked }, session.token];
  return h("section", { class: "card", "aria-label": `Change ${name}` }, h("div", { class: "bar" }, h("h2", {}, "Change its text")),
    h("p", { class: "hint", id: "constants-hint" }, "Its constants are fields below; other changes are made in the text. All who have it get the new one."), place, parameters,
    h("p", {}, keep, " ", h("label", { for: "keep-runs" }, "Keep its waiting runs, where the language can")),
    tried("Apply", made, () => "It has the new text.", outcome), outcome);
}

/** Insert and delete arcs of a subscription while it runs. */
export function arcs(name, session) {
  const outcome = h("div", { role: "status" });
  const insert = h("textarea", { id: "arcs-insert", rows: "3", spellcheck: "false" });
  const remove = h("input", { id: "arcs-delete", type: "text", spellcheck: "false", autocomplete: "off" });
  const [start, end] = ["start", "end"].map((each) => h("input", { id: `arcs-${each}`, type: "text", placeholder: each === "start" ? "from now on" : "for ever", autocomplete: "off" }));
  const field = (label, input) => h("div", { class: "field" }, h("label", { for: input.id }, label), input);
  const made = () => [path(name, "arcs"), {
    insert: insert.value.split("\n").filter((each) => each.trim()), delete: remove.value.split(",").map((each) => each.trim()).filter(Boolean),
    start: start.value || null, end: end.value || null,
  }, session.token];
  return h("section", { class: "card", "aria-label": `Arcs of ${name}` }, h("div", { class: "bar" }, h("h2", {}, "Change its arcs")),
    h("div", { class: "fields" }, field("Insert arcs, one in a line", insert), field("Delete arcs by name, with commas", remove), field("For events from", start), field("For events before", end)),
    tried("Update", made, () => "The arcs are changed.", outcome), outcome);
}

/** The ways to end a subscription that the user has, each confirmed after a dry run. */
export function ending(name, info, session) {
  const ways = [
    ...(info.own ? [["Unsubscribe", { how: "own" }]] : []),
    ...info.cursors.map((cursor) => [`Forget cursor ${cursor}`, { how: "cursor", cursor }]),
    ...(info.admin ? [["Delete for everybody", { how: "everybody" }]] : []),
  ];
  if (!ways.length) return null;
  const ask = async (title, body) => {
    const text = h("div", {}, empty("Trying it in a copy of the broker…"));
    const yes = h("button", { type: "button", class: "danger", disabled: true }, title);
    const dialog = h("dialog", { "aria-label": `${title}: ${name}` }, h("h2", {}, `${title}: ${name}?`), text,
      h("p", { class: "acts" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), " ", yes));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    try {
      text.replaceChildren(rehearsed(await post(path(name, "end"), session.token, { ...body, dry: true })));
      yes.disabled = false;
    } catch (error) {
      text.replaceChildren(refusal(error));
    }
    yes.addEventListener("click", async () => {
      yes.disabled = true;
      try {
        await post(path(name, "end"), session.token, { ...body, dry: false });
        location.assign("/subscriptions");
      } catch (error) {
        text.replaceChildren(refusal(error));
      }
    });
  };
  return h("section", { class: "card", "aria-label": `End ${name}` }, h("div", { class: "bar" }, h("h2", {}, "End it")), h("p", { class: "acts" }, ways.flatMap(([title, body]) => [h("button", { type: "button", class: "danger", onclick: () => ask(title, body) }, title), " "])));
}

/** What has changed of a subscription since the broker began, and its updates of arcs. */
export function history_of(name, info) {
  const time = (each, forever) => (Math.abs(each) > 2e18 ? forever : instant(each));
  const rows = info.changes.map((each) => [h("time", {}, instant(each.time)), each.user, each.action,
    each.before !== undefined && each.text !== undefined ? differing(each.before, each.text) : h("pre", { class: "excerpt" }, each.text ?? [each.insert, each.delete && `delete ${each.delete}`].filter(Boolean).join("\n"))]);
  const updates = info.updates.map(([insert, remove, start, end]) => [h("code", {}, insert.join("\n")), remove.join(", "), time(start, "always"), time(end, "for ever")]);
  return card("Versions", rows.length ? table(`Changes of ${name}`, ["When", "User", "Action", "Text"], rows) : empty("Nothing was changed since the broker began."),
    updates.length ? table(`Updates of ${name}`, ["Inserted arcs", "Deleted", "From", "Before"], updates) : null);
}

/** All that may be done with a subscription, where the console may change something. */
export async function operating(name, found, session) {
  const info = await get(path(name, "changes"));
  const acts = info.writes ? [found.language === "afa" ? arcs(name, session) : null, ending(name, info, session)].filter(Boolean) : [];
  return h("div", { class: "stack" },
    info.writes ? h("div", { class: "two" }, info.admin ? changing(name, found, session) : null, acts.length ? h("div", { class: "stack" }, acts) : null) : null, history_of(name, info));
}
