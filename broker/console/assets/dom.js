// What all pages share: elements, texts of times and numbers, and questions to the server.

/** An element with attributes, listeners (`onclick`), and children: elements, texts, or lists of these. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for parts of a picture. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const at = (id) => document.getElementById(id);

/** Whether a time in microseconds is one of the calendar; a clock that starts at zero counts. */
export const dated = (time) => Math.abs(time) > 1e14;

export function instant(time) {
  if (!dated(time)) return `${number(time)} µs`;
  const text = new Date(time / 1000).toISOString().replace("T", " ").replace("Z", "");
  return text.replace(/ 00:00:00\.000$/, "").replace(/\.000$/, "");
}

export const number = (value) => value.toLocaleString("en");
export const several = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

export function value(found) {
  if (typeof found === "number" && !Number.isInteger(found)) return String(Math.round(found * 1e6) / 1e6);
  return typeof found === "string" ? found : JSON.stringify(found);
}

/** The values of an event or a result: `name value, name value`. */
export const values = (data) =>
  Object.entries(data ?? {}).map(([name, each]) => h("span", { class: "value" }, h("i", {}, name), " ", value(each)));

/** Asks by POST; the answer as an object. Throws an Error with the server's words. */
export async function post(path, token, body, type = "application/json") {
  const content = type === "application/json" ? JSON.stringify(body) : body;
  const headers = { "content-type": type, "x-foretell-token": token };
  for (;;) {
    const found = await answer(await fetch(path, { method: "POST", headers, body: content }));
    if (!found.starting) return found;
    await new Promise((resolve) => setTimeout(resolve, 500)); // what answers is being started
  }
}

export const get = async (path) => answer(await fetch(path));

async function answer(response) {
  let found;
  try {
    found = await response.json();
  } catch {
    throw new Error(`the server answered ${response.status}`);
  }
  if (!response.ok || found.error)
    throw Object.assign(new Error(found.error ?? `the server answered ${response.status}`), { status: response.status });
  return found;
}

/** Calls `action` when nothing has called this for so long. */
export function later(milliseconds, action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

/** The colours of subscriptions are classes c0 to c7. */
export const colour = (place) => `c${place % 8}`;

/** Puts a drawing of the server into a place. It is parsed as a picture, never as a page. */
export function draw(place, text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const picture = parsed.nodeName === "svg" ? document.importNode(parsed, true) : "";
  if (picture) {
    const width = Number(picture.getAttribute("width"));
    picture.style.minWidth = `${Math.round(width * 0.85)}px`; // smaller letters cannot be read: it scrolls
    picture.style.maxWidth = `${Math.round(width * 1.1)}px`;
  }
  place.replaceChildren(picture);
}
