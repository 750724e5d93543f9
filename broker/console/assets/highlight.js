// Colours of a subscription file: TOML with queries of all languages. A line at a time, for the editor and the console.

const WORDS = new Set(
  `SELECT FROM FILTER NEXT FOLD PUBLISH AS UNION PATTERN SEQ WHERE WITHIN RETURN AND OR NOT IN BETWEEN LIKE MATCHES
  CIDR IS NULL BY WINDOW AFTER MATCHING KEEP AGGREGATE EVERY LAST OFFSET SESSION START END MATCH REGISTER FINAL ON
  WHEN SET OUTPUT SHORTEST LONGEST EARLIEST LATEST DISTINCT EVENTS TRUE FALSE STRING INT FLOAT BOOL`.split(/\s+/),
);
const TOKEN = /#.*|--.*|'(?:[^'\\]|'')*'|"(?:[^"\\]|\\.)*"|\$\d*|\b\d[\d_]*(?:\.\d+)?\b|[A-Za-z_]\w*|[^\s\w]/g;
const IN_TOML = /^(\s*)([\w-]+)(\s*=)/;

/** The classes of each character of a line, and whether a query goes on behind it. `inside`: its quotes, or "". */
export function classes(line, inside) {
  const found = new Array(line.length).fill("");
  const paint = (begin, end, name) => found.fill(name, begin, end);
  let from = 0;
  if (!inside) {
    if (/^\s*#/.test(line)) return paint(0, line.length, "comment") && [found, ""];
    if (/^\s*\[/.test(line)) return paint(0, line.length, "table") && [found, ""];
    const key = IN_TOML.exec(line);
    if (!key) return [found, ""];
    paint(key[1].length, key[1].length + key[2].length, "key");
    from = key[0].length;
    const opened = /('''|""")/.exec(line.slice(from));
    const query = key[2] === "query";
    if (opened && query) {
      inside = opened[1];
      from += opened.index + 3;
    } else if (query) {
      const quote = /["']/.exec(line.slice(from));
      if (quote) from += quote.index + 1;
    } else {
      for (const token of line.slice(from).matchAll(TOKEN)) toml(token, from, paint);
      return [found, ""];
    }
  }
  const closed = inside ? line.indexOf(inside, from) : line.lastIndexOf(line[from - 1]);
  const until = closed < 0 ? line.length : closed;
  for (const token of line.slice(from, until).matchAll(TOKEN)) {
    const [begin, text] = [from + token.index, token[0]];
    if (text.startsWith("--")) paint(begin, until, "comment");
    else if (/^['"]./.test(text)) paint(begin, begin + text.length, "text");
    else if (/^\d/.test(text)) paint(begin, begin + text.length, "number");
    else if (text.startsWith("$")) paint(begin, begin + text.length, "key");
    else if (WORDS.has(text)) paint(begin, begin + text.length, "word");
  }
  return [found, inside && closed < 0 ? inside : ""];
}

function toml(token, from, paint) {
  const [begin, text] = [from + token.index, token[0]];
  if (text.startsWith("#")) paint(begin, begin + text.length, "comment");
  else if (/^['"]/.test(text)) paint(begin, begin + text.length, "text");
  else if (/^\d/.test(text)) paint(begin, begin + text.length, "number");
}

/** Runs of equal classes of a line, as pairs of text and class. */
export function runs(line, painted) {
  const found = [];
  let begin = 0;
  for (let end = 1; end <= line.length; end++)
    if (end === line.length || painted[end] !== painted[begin]) {
      found.push([line.slice(begin, end), painted[begin]]);
      begin = end;
    }
  return found;
}

/** A query on its own, in colours. */
export function coloured(query) {
  let inside = "'''";
  return query.split("\n").map((line) => {
    const [painted] = classes(line, inside);
    return [...runs(line, painted), ["\n", ""]];
  });
}
