// The pages of the console, and the list of them that each page has.

import { h } from "./dom.js";

const PAGES = [["/", "Overview"], ["/streams", "Streams"], ["/subscriptions", "Subscriptions"], ["/program", "Program"], ["/clients", "Clients"], ["/users", "Users"], ["/playground", "Playground"]];

/** Puts links to the pages into a place; `session`: what /api/session says. */
export function navigation(place, session) {
  const found = PAGES.filter(([path]) => path !== "/playground" || session.playground);
  place.replaceChildren(...found.map(([path, title]) => {
    const here = path === "/" ? location.pathname === "/" : location.pathname.startsWith(path);
    return h("a", { href: path, "aria-current": here ? "page" : null }, title);
  }));
}
