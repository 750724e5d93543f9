// The page on which a subscription is made: an editor with the mistakes of its text, its automaton, a dry run.

import { at, draw, get, h, later, post } from "./dom.js";
import { Editor } from "./editor.js";
import { tried } from "./operating.js";
import { card, empty, link } from "./parts.js";

const LANGUAGES = [["cayuga", "CEL (cayuga)"], ["sase", "SASE+"], ["ptopss", "P-ToPSS"], ["afa", "register automata (afa)"], ["window", "windows"]];

export async function subscribing(content, session) {
  if (!session.writes) return content.replaceChildren(card("Subscribe", empty("The console is read-only: writes = true in [console] of the configuration lets users change what they may.")));
  const streams = await get("/api/streams");
  const [place, findings, outcome] = [h("div", {}), h("ul", { class: "findings", id: "findings" }), h("div", { role: "status" })];
  const picture = h("div", { class: "diagram", tabindex: "0", role: "group", "aria-label": "The automaton" });
  const name = h("input", { id: "name", type: "text", autocomplete: "off", spellcheck: "false" });
  const language = h("select", { id: "language" }, LANGUAGES.map(([each, title]) => h("option", { value: each }, title)));
  const cursor = h("input", { id: "cursor", type: "text", autocomplete: "off", spellcheck: "false", placeholder: "none" });
  let asked = 0;
  const check = async () => {
    const own = ++asked;
    if (!editor.text.trim()) return findings.replaceChildren();
    try {
      const found = await post("/api/check", session.token, { name: name.value || "new", language: language.value, query: editor.text });
      if (own !== asked) return;
      editor.mark(found.findings.filter((each) => each.line !== null));
      findings.replaceChildren(...found.findings.map((each) => h("li", { class: each.severity }, h("button", { type: "button", onclick: () => editor.go(each.line ?? 0, each.column ?? 0) },
        h("b", {}, each.line === null ? each.severity : `${each.severity} in line ${each.line + 1}`), " ", each.message))));
      if (found.svg) draw(picture, found.svg);
    } catch (error) {
      if (own === asked) findings.replaceChildren(h("li", { class: "error" }, error.message));
    }
  };
  const soon = later(400, check);
  const editor = new Editor(place, { changed: soon, id: "query", label: "Query", described: "findings", inside: "'''" });
  language.addEventListener("change", soon);
  const field = (label, input, hint) => h("div", { class: "field" }, h("label", { for: input.id }, label, hint ? [" ", h("i", {}, hint)] : null), input);
  const made = () => ["/api/subscriptions", { name: name.value, language: language.value, query: editor.text, cursor: cursor.value || null }, session.token];
  const done = () => h("span", {}, "It is subscribed: ", link(name.value));
  content.replaceChildren(h("p", {}, h("a", { href: "/subscriptions" }, "‹ All subscriptions")), h("div", { class: "two" },
    card("Subscribe", h("div", { class: "fields" }, field("Name", name), field("Language", language), field("Cursor", cursor, "keeps results for a reader")), place, findings, tried("Subscribe", made, done, outcome), outcome,
      h("p", { class: "hint" }, "Without a cursor the console holds the subscription, until it is ended here or the broker ends. Mistakes are shown while you type; only the dry run knows the streams that other subscriptions publish.")),
    h("div", { class: "stack" }, card("Automaton", picture),
      card("Streams", streams.length ? h("ul", { class: "plain" }, streams.map((each) => h("li", {}, h("b", {}, each.name), " ", Object.entries(each.attributes).map(([attribute, type]) => h("span", { class: "value" }, attribute, " ", h("i", {}, type)))))) : empty("No stream yet.")))));
  at("name").focus();
}
