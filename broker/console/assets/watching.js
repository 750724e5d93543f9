// What is watched beside streams and subscriptions: refused events, users with their quotas, cursors.

import { get, h, instant, number, values } from "./dom.js";
import { card, empty, link, table } from "./parts.js";

/** The last refused events of a stream, with reason and place. */
export function refusals(name) {
  const place = h("div", {}, empty("Looking…"));
  const show = async () => {
    try {
      const found = await get(`/api/streams/${encodeURIComponent(name)}/refused`);
      const rows = found.map((each) => [h("time", {}, instant(each.time)), each.code, each.reason, number(each.events),
        each.data ? h("span", {}, each.event_time === null ? null : h("span", { class: "value" }, h("i", {}, "time"), " ", instant(each.event_time)), values(each.data)) : `a batch of ${each.user}`]);
      place.replaceChildren(rows.length ? table(`Refused events of ${name}`, ["When", "Code", "Reason", "#Events", "Event"], rows) : empty("None was refused since the broker began."));
    } catch (error) {
      place.replaceChildren(empty(error.message));
    }
  };
  show();
  const again = h("button", { type: "button", class: "quiet", onclick: show }, "Look again");
  return h("section", { class: "card", "aria-label": `Refused events of ${name}` }, h("div", { class: "bar" }, h("h2", {}, "Refused events"), again), place);
}

const VERBS = ["publish", "read", "subscribe", "declare"];
const QUOTAS = [["connections", "Clients"], ["subscriptions", "Subscriptions"], ["states", "States"]];

/** Users: what each may do, and uses of its quota. */
export async function users(content) {
  const found = await get("/api/users");
  const use = (each, name) => {
    const [used, most] = [each.used?.[name] ?? 0, each.quota[name]];
    if (each.name === "anybody") return most === null ? "no limit" : number(most);
    const text = most === null ? `${number(used)}, no limit` : `${number(used)} of ${number(most)}`;
    return most === null ? text : h("span", {}, text, h("meter", { min: "0", max: String(most), value: String(Math.min(used, most)), "aria-label": `${name} of ${each.name}` }));
  };
  const rows = found.map((each) => [h("b", {}, each.name), each.admin ? "administrator" : "",
    h("span", {}, VERBS.filter((verb) => each.grants[verb].length).map((verb) => h("span", { class: "value" }, h("i", {}, verb), " ", each.grants[verb].join(" ")))),
    ...QUOTAS.map(([name]) => use(each, name)), each.quota.events_per_second === null ? "no limit" : number(each.quota.events_per_second)]);
  const anybody = found.length === 1 && found[0].name === "anybody";
  content.replaceChildren(card("Users", rows.length ? table("Users", ["User", "Rights", "May", ...QUOTAS.map(([, title]) => `#${title}`), "#events/s"], rows) : empty("No user."),
    anybody ? h("p", { class: "hint" }, "Without keys all clients are one user, and a quota is that of each connection.") : null));
}

/** Cursors: results that are kept for their readers, and those that were set aside. */
export async function cursors() {
  const found = await get("/api/cursors");
  const rows = found.map((each) => [h("b", {}, each.name), link(each.subscription), each.attached ? "attached" : "nobody reads", number(each.backlog), number(each.dead_letters)]);
  return card("Cursors", rows.length ? table("Cursors", ["Cursor", "Subscription", "Reader", "#Waiting results", "#Dead letters"], rows) : empty("No cursor keeps results."));
}
