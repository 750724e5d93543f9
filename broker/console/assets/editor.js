// A text area for subscription files, in front of the same text in colours, with mistakes underlined.

import { h, later } from "./dom.js";
import { classes, runs } from "./highlight.js";

const PLAIN = 60_000; // a longer text has no colours

/** `changed` is called after each change; `complete(line, column)` gives words, if there is one. `inside`: the quotes in
 * which the text stands that is a query alone. */
export class Editor {
  constructor(place, { changed, complete, id = "subscriptions", label = "Subscription file", described = "findings", inside = "" }) {
    this.shade = h("pre", { class: "shade", "aria-hidden": "true" });
    this.area = h("textarea", {
      id, spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off",
      "aria-label": label, "aria-describedby": described,
    });
    this.words = h("ul", { class: "words", role: "listbox", id: "words", "aria-label": "Words that may come", hidden: true });
    this.findings = [];
    this.complete = complete;
    this.inside = inside;
    place.append(h("div", { class: "editor" }, h("div", { class: "sheet" }, this.shade, this.area)), this.words);
    this.area.addEventListener("input", () => {
      this.close();
      this.findings = [];
      this.paint();
      changed();
    });
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.area.addEventListener("blur", later(150, () => this.close()));
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.findings = [];
    this.paint();
  }

  /** Underlines these places. */
  mark(findings) {
    this.findings = findings;
    this.area.setAttribute("aria-invalid", String(findings.some((each) => each.severity === "error")));
    this.paint();
  }

  paint() {
    const lines = this.text.split("\n");
    let inside = this.inside;
    const painted = lines.map((line, place) => {
      let found = new Array(line.length).fill("");
      if (this.text.length < PLAIN) [found, inside] = classes(line, inside);
      const wrong = this.findings.filter((each) => each.line === place);
      for (const each of wrong) {
        const begin = Math.min(each.column, Math.max(0, line.length - 1));
        const end = Math.max(begin + 1, begin + line.slice(begin).search(/\s|$/));
        for (let at = begin; at < end && at < line.length; at++) found[at] += ` ${each.severity}`;
      }
      const parts = runs(line, found).map(([text, name]) => (name ? h("span", { class: name }, text) : text));
      return h("span", { class: wrong.length ? "line marked" : "line" }, parts, "\n");
    });
    this.shade.replaceChildren(...painted);
  }

  /** Puts the cursor to a place. */
  go(line, column) {
    const before = this.text.split("\n").slice(0, line);
    const offset = before.reduce((sum, each) => sum + each.length + 1, 0) + column;
    this.area.focus();
    this.area.setSelectionRange(offset, offset);
    this.shade.children[line]?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.key === " " && event.ctrlKey && this.complete) {
      event.preventDefault();
      this.suggest();
    } else if (!this.words.hidden) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        const count = this.words.children.length;
        this.choose((this.chosen + step + count) % count);
      } else if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        this.take(this.words.children[this.chosen].dataset.word);
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.close();
      }
    }
  }

  async suggest() {
    const before = this.text.slice(0, this.area.selectionStart);
    const line = before.split("\n").length - 1;
    const column = before.length - before.lastIndexOf("\n") - 1;
    const begun = /\w*$/.exec(before)[0].toLowerCase();
    const known = (await this.complete(line, column)).filter((each) => each.word.toLowerCase().startsWith(begun));
    if (!known.length) return;
    this.words.replaceChildren(
      ...known.slice(0, 40).map((each, place) =>
        h("li", { role: "option", id: `word-${place}`, "data-word": each.word, onmousedown: (event) => {
          event.preventDefault();
          this.take(each.word);
        } }, h("b", {}, each.word), " ", h("span", {}, each.about)),
      ),
    );
    this.words.hidden = false;
    this.area.setAttribute("aria-controls", "words");
    this.choose(0);
  }

  choose(place) {
    this.chosen = place;
    [...this.words.children].forEach((each, at) => each.setAttribute("aria-selected", String(at === place)));
    this.words.children[place].scrollIntoView({ block: "nearest" });
    this.area.setAttribute("aria-activedescendant", `word-${place}`);
  }

  take(word) {
    const end = this.area.selectionStart;
    const begin = end - /\w*$/.exec(this.text.slice(0, end))[0].length;
    this.area.setRangeText(word, begin, end, "end");
    this.area.dispatchEvent(new Event("input"));
  }

  close() {
    this.words.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
    this.area.removeAttribute("aria-controls");
  }
}
