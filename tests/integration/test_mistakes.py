"""The mistakes that users made, each with what its message says to write instead: one line, exit status 2.

A table over all languages, subscription files, files of events, the shell and the client. Not here: habits whose
rewritten text is tried (tests/unit/language/test_language_habits.py), where an error is placed (each parser's tests).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from doubles.broker_process import broker_process
from doubles.commands import complaint

from broker.engine import Engine
from broker.events import ForetellError
from broker.language.names import LANGUAGES
from client import Client

NEXT: Final = "WHERE skip_till_next_match({}) {{{}}} WITHIN 5 s"

QUERIES: Final = [
    # --- CEL ---
    ("cel", "FILTER{price > 5}(Stok)", "unknown stream 'Stok'; did you mean 'Stock'?"),
    ("cel", "FILTER{prise > 5}(Stock)", "unknown attribute 'prise'; did you mean 'price'?"),
    ("cel", "FILTER{name == 'x'}(Stock)", "found '=='; did you mean '='?"),
    ("cel", "FILTER{name <> 'x'}(Stock)", "found '<>'; did you mean '!='?"),
    ("cel", 'FILTER{name = "x"}(Stock)', "strings are written in single quotes"),
    ("cel", "FILTER{name = 'x}(Stock)", "expected a closing ' to this string"),
    ("cel", "FILTER(price > 5)(Stock)", "write FILTER{price > 5}"),
    ("cel", "FILTER{price > 5 && volume > 2}(Stock)", "did you mean 'AND'?"),
    ("cel", "FILTER{price > 5 || volume > 2}(Stock)", "did you mean 'OR'?"),
    ("cel", "FILTER{!(price > 5)}(Stock)", "did you mean 'NOT'?"),
    ("cel", "FILTER{price > '5'}(Stock)", "write 5, without quotes"),
    ("cel", "FILTER{price > 5,5}(Stock)", "write 5.5, with a decimal point"),
    ("cel", "FILTER{price BETWEEN 5 TO 6}(Stock)", "write AND 6"),
    ("cel", "FILTER{name IN ()}(Stock)", "expected at least one value in parentheses after IN"),
    ("cel", "FILTER{time > '2026-01-01'}(Stock)", "write a time as a number of microseconds since 1970"),
    ("cel", "FILTER{price > 5}(Stock);", "write the query without ';' at its end"),
    ("cel", "Stock NEXT{$3.price > 5} Stock", "a qualified attribute is $1.name, $2.name or $.name"),
    ("cel", "Stock NEXT{News.name = Stock.name} News", "write $1.name for the left event, $2.name for the right one"),
    ("cel", "Stock NEXT News", "write NEXT{} News"),
    ("cel", "Stock NEXT(name = 'x') News", "write NEXT{name = 'x'}"),
    ("cel", "Stock -> News", "write Stock NEXT{} News"),
    ("cel", "Stock? NEXT{} News", "write an element that may be absent in language = 'sase', as Stock? a"),
    ("cel", "Stock, News", "write NEXT{} News for one after the other, UNION News for both"),
    ("cel", "every Stock", "write Stock alone, since each of its events begins a match"),
    ("cel", "SELECT count(*) FROM Stock", "write a window, FROM stream WINDOW ... AGGREGATE count() AS n"),
    ("cel", "SELECT sum(price) FROM Stock", "write a window, FROM stream WINDOW ... AGGREGATE sum(price) AS n"),
    ("cel", "SELECT name FROM Stock HAVING price > 5", "write FILTER{price > 5}(...) around the query"),
    ("cel", "SELECT name FROM Stock ORDER BY price", "write no ORDER BY: results come in the order of time"),
    ("cel", "SELECT name FROM Stock LIMIT 5", "write no LIMIT: whoever reads results stops"),
    ("cel", "SELECT DISTINCT name FROM Stock", "write name without DISTINCT"),
    (
        "cel",
        "SELECT name FROM Stock JOIN News ON Stock.name = News.title",
        "write Stock NEXT{$2.title = $1.name} News",
    ),
    ("cel", "INSERT INTO Big SELECT * FROM Stock", "write the query with PUBLISH Big at its end"),
    ("cel", "SELECT price, price FROM Stock", "rename one with AS"),
    ("esper", "Stock", f"expected one of {', '.join(LANGUAGES)}, found string 'esper'"),
    ("SELECT * FROM Stock", "", "found a query; write query='SELECT * FROM Stock'"),
    # --- SASE+ ---
    ("sase", f"PATTERN SEQ(Stock+ a) {NEXT.format('a', '[name]')}", "write Stock+ a[]"),
    ("sase", f"PATTERN SEQ(Stock{{2}} a) {NEXT.format('a', '[name]')}", "write Stock{2} a[]"),
    ("sase", f"PATTERN SEQ(Stock a[]+) {NEXT.format('a[]', '[name]')}", "write Stock+ a[]"),
    ("sase", f"PATTERN SEQ(Stock a; Stock b) {NEXT.format('a, b', '[name]')}", "write ',' between the elements of SEQ"),
    ("sase", f"PATTERN SEQ(a, b) {NEXT.format('a, b', '[name]')}", "write Stream a: the stream before each variable"),
    ("sase", f"PATTERN SEQ(Stock a, !(Stock b), Stock c) {NEXT.format('a, c', '[name]')}", "write ~(Stock b)"),
    ("sase", f"PATTERN Stock a, Stock b {NEXT.format('a, b', '[name]')}", "write PATTERN SEQ(Stock a, Stock b)"),
    ("sase", "PATTERN (A B+ C) DEFINE B AS price > 5", "conditions in braces behind a strategy instead of DEFINE"),
    ("sase", "PATTERN SEQ(Stock a, Stock b) WHERE {[name]}", "write a strategy for all variables"),
    ("sase", "PATTERN SEQ(Stock a) WHERE skip_til_next_match(a) {[name]}", "did you mean 'skip_till_next_match'?"),
    ("sase", "PATTERN SEQ(Stock a, Stock b) WITHIN 5 WHERE skip_till_next_match(a, b) {[name]}", "before WITHIN"),
    ("sase", f"PATTERN SEQ(Stock a, Stock b) {NEXT.format('a, b', 'price > 5')}", "such as a.price, found 'price'"),
    ("sase", f"PATTERN SEQ(Stock a) {NEXT.format('a', 'c.price > 5')}", "unknown variable 'c'; expected one of a"),
    ("sase", f"PATTERN SEQ(Stock+ a[]) {NEXT.format('a[]', 'a.price > 5')}", "a[1].price, a[i].price"),
    ("sase", f"PATTERN SEQ(Stock+ a[]) {NEXT.format('a[]', 'a[i].price > prev(a.price)')}", "write a[i-1].price"),
    ("sase", f"PATTERN SEQ(Stock+ a[]) {NEXT.format('a[]', 'last(a).price > 5')}", "write last(a[].price)"),
    ("sase", f"PATTERN SEQ(Stock+ a[]) {NEXT.format('a[]', 'sum(a.price) > 5')}", "such as sum(a[].x)"),
    ("sase", f"PATTERN SEQ(Stock a) {NEXT.format('a', 'a.price > 5 BY name')}", "write [name] among the conditions"),
    ("sase", "PATTERN SEQ(Stock a, ~(Stock n)) WHERE skip_till_next_match(a) {[name]}", "expected WITHIN"),
    # --- P-ToPSS ---
    ("ptopss", "FROM Stock a: price > 1 MATCH b", "'b' is not defined; expected one of a"),
    ("ptopss", "FROM Stock a: price > 1 MATCH a; a", "define one more, such as 'a, a_2: …'"),
    ("ptopss", "FROM Stock a: name != $n MATCH a", "a variable only joins"),
    ("ptopss", "FROM Stock a: price > 1 b: price > 2 MATCH a -> b", "write a; b"),
    ("ptopss", "FROM Stock a: price > 1 b: price > 2 MATCH a then b", "write a; b"),
    ("ptopss", "FROM Stock a = price > 1 MATCH a", "write a: price > 1"),
    ("ptopss", "FROM Stock a: price > 1, b: price > 2 MATCH a; b", "write b: ... with nothing but a space before it"),
    ("ptopss", "FROM Stock a: price > 1 b: price > a.price MATCH a; b", "write price = $v in both definitions"),
    ("ptopss", "FROM Stock a: price > 1 MATCH a+", "write repetition in language = 'sase', as Stream+ a[]"),
    ("ptopss", "FROM Stock a, b: price > 1 MATCH a; b @(t(b) < 5 s)", "write t(b) - t(another) < 5 s"),
    ("ptopss", "FROM Stock a: price > 1 MATCH a WITHIN 5 s BY name", "write BY name behind FROM"),
    ("ptopss", "FROM Stock, News a: price > 1 MATCH a", "write 'a ON Stock: …'"),
    # --- windows ---
    ("window", "FROM Stock WINDOW TUMBLE 5 min", "write EVERY 5 min"),
    ("window", "FROM Stock WINDOW HOP(5 min, 1 min)", "write LAST 5 min"),
    ("window", "FROM Stock WINDOW SESSION 5 min SELECT count() AS n", "write AGGREGATE count() AS n"),
    ("window", "SELECT count(*) FROM Stock WINDOW SESSION 5 min", "write FROM Stock WINDOW SESSION 5 min AGGREGATE"),
    ("window", "FROM Stock WINDOW SESSION 5 min HAVING count() > 5", "write PUBLISH name, and FILTER{...}(name)"),
    ("window", "FROM Stock WINDOW AFTER any* MATCHING price > 5", "write [price > 5]"),
    ("window", "FROM Stock, News WINDOW SESSION 5 min", "write one stream, which a query in language = 'cayuga'"),
    ("window", "FROM Stock GROUP BY name WINDOW SESSION 5 min", "write FROM stream BY name"),
    # --- AFA ---
    ("afa", "FROM Stock START a FINAL b a -> b IF price > 5", "write -> b WHEN price > 5"),
    ("afa", "FROM Stock START a FINAL b a => b WHEN price > 5", "write -> b"),
    ("afa", "FROM Stock REGISTER n INT = 0 START a FINAL b a -> b SET n := 1", "write = 1"),
    ("afa", "FROM Stock REGISTER n INT START a FINAL b a -> b", "write n INT = and its first value"),
    ("afa", "FROM Stock REGISTER n INTEGER = 0 START a FINAL b a -> b", "did you mean 'int'?"),
    ("afa", "FROM Stock START a FINAL b a -> b WHEN DUR > 5", "reads the time of an event alone, as 'time'"),
]

STREAM: Final = '[streams.Stock]\nattributes = { name = "string", price = "float" }\n'
QUERY: Final = '[subscriptions.q]\nlanguage = "cel"\nquery = "Stock"\n'
FILES: Final = [
    ('[stream.Stock]\nattributes = { name = "string" }\n', "unknown key 'stream'; did you mean 'streams'?"),
    ('[streams.Stock]\nattributes = { name = "text" }\n', "did you mean 'string'?"),
    ('[streams.Stock]\nattributes = { at = "timestamp" }\n', "an event's own time is no attribute"),
    ('[streams.Stock]\nattributes = ["name"]\n', 'such as { name = "string", price = "float" }, found a list'),
    ('[streams.Stock]\nname = "string"\n', 'write attributes = { name = "string", ... }'),
    ('[streams.Stock]\nattributes = {\n  name = "string" }\n', "a table in braces has to be on one line"),
    (STREAM + 'key = "nam"\n', "did you mean 'name'?"),
    (STREAM + 'disorder = "buffered"\n', "did you mean 'buffer'?"),
    (STREAM + 'lateness = "5 m"\n', "did you mean 'ms'?"),
    (STREAM + 'time_unit = "sec"\n', "expected s, ms, us, ns or iso"),
    (STREAM + QUERY + "lineages = true\n", "did you mean 'lineage'?"),
    (STREAM + QUERY + QUERY, "give one of the two another name"),
    (STREAM + '[subscriptions.q]\nquery = "Stock"\n', "expected the key 'language'"),
    (STREAM + "[subscriptions.q]\nlanguage = cel\n", 'text stands in quotes: language = "cel"'),
    (STREAM + '[subscriptions.q]\nquery = "SELECT *\nFROM Stock"\n', 'three quotes, query = """..."""'),
    (STREAM + "[subscriptions.q]\nquery = \"FILTER{name = 'a\\d'}(Stock)\"\n", "a \\ stands for itself"),
    ("streams:\n  Stock:\n", "a subscription file is TOML: [streams.NAME]"),
    ('{"streams": {}}', "a subscription file is TOML: [streams.NAME]"),
]

EVENTS: Final = [
    ("e.csv", "time,name,price\n1700000000,a,5\n", "declare the unit with --time-unit s"),
    ("e.csv", "time;name;price\n1;a;5\n", "expected columns with ',' between them"),
    ("e.csv", 'time,name,price\n1,a,"5,5"\n', "write 5.5, with a decimal point"),
    ("e.csv", "name,price\na,5\n", "(--time COLUMN names it), found name, price"),
    ("e.csv", "time,name,price\n01/02/2026,a,5\n", "ISO-8601 such as 2024-05-01T09:30:00Z"),
    ("e.csv", "time,name,price\n1,a,5\n".encode("utf-16"), "-t UTF-8 converts the file"),
    ("e.json", '[{"stream": "Stock"}]\n', "write one object a line, without brackets"),
    ("e.jsonl", '{"time": 1, "name": "a", "price": 5}\n', "lines with nothing but the attributes need --stream NAME"),
    ("e.jsonl", '{"stream": "Stok", "time": 1, "data": {}}\n', "did you mean 'Stock'?"),
    ("e.jsonl", '{"stream": "Stock", "time": 1, "data": {"name": "a", "prise": 5}}\n', "did you mean 'price'?"),
    ("e.jsonl", '{"stream": "Stock", "time": 1, "data": {"name": null, "price": 5}}\n', 'declare name = "string?"'),
    ("e.jsonl", '{"stream": "Stock", "time": 1, "data": {"name": "a", "price": "5"}}\n', "write 5, without quotes"),
    (
        "e.csv",
        "time,name,price\n2,a,5\n1,a,5\n",
        'declare the stream with disorder = "buffer" for events that come late',
    ),
]

COMMANDS: Final = [
    (("rum",), "Did you mean 'run'?"),
    (("check",), "Missing argument 'SUBS.toml'"),
    (("run", "s.toml"), "Missing option '--events'"),
    (("run", "s.toml", "--event", "e"), "Possible options: --events"),
    (("run", "s.toml", "--events", "none.csv"), "none.csv: No such file"),
    (("run", "s.toml", "--events", "e.csv", "--time", "when"), "found time, name, price"),
    (("run", "s.toml", "--events", "e.csv", "--only", "z"), "expected a subscription of s.toml, found 'z'"),
    (("run", "s.toml", "--events", "e.csv", "--out", "x.xml"), "ends in .jsonl, .csv or .parquet"),
    (("explain", "s.toml", "--format", "png"), "--format dot | dot -Tpng"),
    (("streams", "--broker", "127.0.0.1:5570"), "did you mean 'tcp://127.0.0.1:5570'?"),
    (("streams", "--broker", "localhost"), "such as tcp://127.0.0.1:5570, found 'localhost'"),
    (("serve", "--address", "x"), "such as tcp://127.0.0.1:5570"),
]  # fmt: skip

ROW: Final = {"name": "a", "price": 5}
COLUMNS: Final = {"name": ["a"], "price": [5.0]}
NAIVE: Final = datetime.datetime.fromisoformat("2026-01-01T00:00:00")
CALLS: Final[list[tuple[str, Callable[[Any], object], str]]] = [
    ("data behind the time", lambda c: c.publish("Stock", None, ROW), "as {'name': ..., 'price': ...}, found null"),
    ("a row as data", lambda c: c.publish("Stock", ("a", 5)), "as {'name': ..., 'price': ...}, found a list"),
    ("an unknown stream", lambda c: c.publish("Stok", ROW), "did you mean 'Stock'?"),
    ("an unknown attribute", lambda c: c.publish("Stock", {"name": "a", "prise": 5}), "did you mean 'price'?"),
    ("a number as text", lambda c: c.publish("Stock", {"name": "a", "price": "5"}), "write 5, without quotes"),
    ("a null", lambda c: c.publish("Stock", {"name": None, "price": 5}), 'declare name = "string?"'),
    ("a naive time", lambda c: c.publish("Stock", ROW, NAIVE), "add tzinfo=datetime.UTC"),
    ("seconds", lambda c: c.publish("Stock", ROW, 1_700_000_000), "set_time_unit('Stock', \"s\")"),
    ("a late event", lambda c: c.publish("Stock", ROW, 10**15), 'disorder = "buffer" for events that come late'),
    ("one row as rows", lambda c: c.publish_batch("Stock", None, ("a", 5.0)), "expected a tuple of values"),
    ("columns as rows", lambda c: c.publish_batch("Stock", None, {"name": ["a"]}), "expected a sequence of rows"),
    ("rows as columns", lambda c: c.publish_columns("Stock", [("a", 5.0)]), "expected columns by attribute, as {'na"),
    ("a row as columns", lambda c: c.publish_columns("Stock", ROW), "expected a column of values, found string 'a'"),
    ("columns of unlike length", lambda c: c.publish_columns("Stock", {**COLUMNS, "price": [1.0, 2.0]}), "found 2"),
    ("an unknown column", lambda c: c.publish_columns("Stock", {**COLUMNS, "prise": [1.0]}), "did you mean 'price'?"),
    ("a Python type", lambda c: c.add_stream("X", {"a": "str"}), "did you mean 'string'?"),
    ("attributes as a list", lambda c: c.add_stream("X", ["a"]), 'such as { name = "string", price = "float" }'),
    ("other languages", lambda c: c.subscribe("x", "esper", "Stock"), "expected one of cayuga, sase, ptopss"),
    ("arguments exchanged", lambda c: c.subscribe("x", "FILTER{price > 5}(Stock)", "cel"), "write query='FILTER{price"),
    ("an address without tcp", lambda c: Client("127.0.0.1:5570"), "did you mean 'tcp://127.0.0.1:5570'"),
    ("a text as a number", lambda c: c.subscribe("y", "cel", "Stock").next("5"), "timeout: expected seconds"),
]


@pytest.mark.parametrize(("language", "query", "said"), QUERIES, ids=[f"{row[0]}: {row[1]}" for row in QUERIES])
def test_a_query(language: str, query: str, said: str) -> None:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float", "volume": "int"})
    engine.add_stream("News", {"title": "string"})
    with pytest.raises(ForetellError) as caught:
        engine.subscribe("q", language, query)
    message = str(caught.value)
    assert said in message
    assert message.startswith("subscription 'q': ")
    assert "\n" not in message


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(STREAM + QUERY)
    (tmp_path / "e.csv").write_text("time,name,price\n1,a,5\n")
    return tmp_path


@pytest.mark.parametrize(("text", "said"), FILES, ids=[row[1] for row in FILES])
def test_a_subscription_file(text: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.toml").write_text(text)
    assert said in complaint(capsys, "check", "s.toml")


@pytest.mark.parametrize(("name", "text", "said"), EVENTS, ids=[row[2] for row in EVENTS])
def test_a_file_of_events(
    name: str, text: str | bytes, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert said in complaint(capsys, "run", "s.toml", "--events", name)


@pytest.mark.parametrize(("arguments", "said"), COMMANDS, ids=[" ".join(row[0]) for row in COMMANDS])
def test_a_command(
    arguments: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in complaint(capsys, *arguments)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with broker_process() as broker, Client(broker.address) as made:
        made.add_stream("Stock", {"name": "string", "price": "float"})
        made.publish("Stock", ROW)
        yield made


@pytest.mark.xdist_group("mistakes")
@pytest.mark.parametrize(("call", "said"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_a_call_of_the_client(call: Callable[[Any], object], said: str, client: Client) -> None:
    with pytest.raises(ForetellError) as caught:
        call(client)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_that_users_stumbled_over_is_here() -> None:
    assert len(QUERIES) + len(FILES) + len(EVENTS) + len(COMMANDS) + len(CALLS) >= 56
    assert {"cel", "sase", "ptopss", "window", "afa"} <= {language for language, _, _ in QUERIES}
