"""The table of languages: a language that is added through it alone works everywhere, and what others lack is said.

`THEN` is such a language, as small as one can be: `Door THEN Alarm BY room`, an event and the next one of the same key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker.algebra.operators import Query, Sequence, Source
from broker.algebra.resolution import find, refuse
from broker.algebra.terms import Comparison, Side
from broker.command.shell import perform
from broker.engine import Engine
from broker.engine.languages.language import Language
from broker.engine.languages.operators import Lower, compiling
from broker.engine.languages.table import LANGUAGES, default_lineage, default_report, register
from broker.events.errors import DefinitionError, QueryError, Unsupported
from broker.language.names import LANGUAGES as NAMES
from broker.language.subscription import SubscriptionDefinition
from broker.language.syntax import Name
from spark_bridge.subscriptions import Subscriptions

# --- a language in thirty lines -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ThenQuery:
    streams: tuple[tuple[str, int], ...]
    key: Name
    publish: str | None = None


def parse(text: str) -> ThenQuery:
    found = re.fullmatch(r"\s*(\w+)\s+THEN\s+(\w+)\s+BY\s+(\w+)\s*", text)
    if found is None:
        refuse(text, 0, f"expected A THEN B BY key, found {text!r}")
    streams = tuple((found[part], found.start(part)) for part in (1, 2))
    return ThenQuery(streams, Name(None, found[3], found.start(3)))


def printed(query: ThenQuery) -> str:
    return f"{' THEN '.join(stream for stream, _ in query.streams)} BY {query.key.attribute}"


def lowered(query: ThenQuery, text: str, schema_of: object, known: object) -> Query:
    assert callable(schema_of)
    sources = []
    for stream, at in query.streams:
        if schema_of(stream) is None:
            refuse(text, at, f"unknown stream {stream!r}")
        sources.append(Source(stream, schema_of(stream)))
    first, second = sources
    keys = [find(source.schema, side, query.key, text) for source, side in zip(sources, (Side.FIRST, Side.EVENT))]
    return Query(Sequence(Comparison("=", keys[1], keys[0]), first, second))


LOWER: Lower = lowered
THEN = Language("then", parse, printed, lambda query: [s for s, _ in query.streams], compiling(LOWER))

# --- and what it can do -------------------------------------------------------------------------------------------

FILE = """[streams.Door]
attributes = { room = "int" }
[streams.Alarm]
attributes = { room = "int", level = "float" }
[subscriptions.broken]
language = "then"
query = "Door  THEN Alarm by room"
"""
RIGHT = FILE.replace("by", "BY")


@pytest.fixture
def then() -> Iterator[Language]:
    register(THEN)
    yield THEN
    del LANGUAGES["then"]
    NAMES.remove("then")


def engine_with(*queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("Door", {"room": "int"})
    engine.add_stream("Alarm", {"room": "int", "level": "float"})
    for number, query in enumerate(queries):
        engine.subscribe(f"q{number}", "then", query)
    return engine


@pytest.mark.usefixtures("then")
def test_a_new_language_matches_and_survives_a_snapshot() -> None:
    engine = engine_with("Door THEN Alarm BY room", " Door THEN Alarm  BY room ", "Alarm THEN Door BY room")
    assert len(engine.publish("Door", [1, 2], [(7,), (8,)])) == 0
    matches = list(Engine.restore(engine.snapshot()).publish("Alarm", [3, 4], [(8, 0.5), (7, 1.0)]))
    assert [(m.subscription, m.start, m.end) for m in matches] == [
        ("q0", 2, 3),
        ("q1", 2, 3),
        ("q0", 1, 4),
        ("q1", 1, 4),
    ]
    assert matches[0].data == {"room_1": 8, "room": 8, "level": 0.5}
    assert [m.id for m in matches] == [m.id for m in engine.publish("Alarm", [3, 4], [(8, 0.5), (7, 1.0)])]
    assert engine.explain()[1] == "6 states before merging, 4 after"


@pytest.mark.usefixtures("then")
def test_equal_texts_are_compiled_once() -> None:
    engine = engine_with("Door THEN Alarm BY room", "Door THEN Alarm BY room")
    first, second = engine.catalog.subscriptions.values()
    assert first.form is second.form


@pytest.mark.usefixtures("then")
def test_the_shell_checks_a_new_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(RIGHT)
    assert perform(["check", str(path)]) == 0
    assert capsys.readouterr().out == "ok broken: then, reads Door, Alarm\n"
    assert Subscriptions.read(path).wants_lineage("broken") is True

    path.write_text(FILE)
    assert perform(["check", str(path)]) == 2
    complaint = capsys.readouterr().err
    assert "subscription 'broken': line 1, column 1: expected A THEN B BY key" in complaint
    assert len(complaint.splitlines()) == 1


@pytest.mark.usefixtures("then")
@pytest.mark.parametrize(
    ("query", "column", "message"),
    [
        ("Door THEN Alrm BY room", 11, "unknown stream 'Alrm'"),
        ("Door THEN Alarm BY level", 20, "unknown attribute 'level'"),
        ("Door, Alarm", 1, "expected A THEN B BY key"),
    ],
)
def test_errors_of_a_new_language_have_a_place(query: str, column: int, message: str) -> None:
    with pytest.raises(QueryError, match=f"^subscription 'q0': line 1, column {column}: {message}") as caught:
        engine_with(query)
    assert caught.value.column == column


@pytest.mark.usefixtures("then")
def test_what_a_language_does_not_offer_is_refused() -> None:
    engine, text = engine_with(), "Door THEN Alarm BY room"
    with pytest.raises(DefinitionError, match=r"report belongs to the language 'ptopss', not to 'then'"):
        engine.subscribe("q", "then", text, report="all")
    with pytest.raises(Unsupported, match=r"forecasts of the language 'then' are not supported yet"):
        engine.subscribe("q", "then", text, forecast={"within": 5, "threshold": 0.5})
    assert not engine.subscriptions


@pytest.mark.usefixtures("then")
def test_an_unknown_language_is_refused_in_one_line_with_the_names() -> None:
    expected = f"subscription 'q': language: expected one of {', '.join(NAMES)}"
    with pytest.raises(DefinitionError, match=rf"^{expected}, found string 'thn'; did you mean 'then'\?$"):
        engine_with().subscribe("q", "thn", "Door THEN Alarm BY room")


def test_a_language_that_left_is_unknown() -> None:
    with pytest.raises(DefinitionError, match=f"{', '.join(NAMES)}, found string 'then'"):
        engine_with("Door THEN Alarm BY room")


@pytest.mark.parametrize(
    ("language", "lineage", "report"),
    [("cayuga", False, None), ("sase", True, None), ("ptopss", True, "all")],
)
def test_what_a_subscription_without_options_gets(language: str, lineage: bool, report: str | None) -> None:
    plain = SubscriptionDefinition("q", language, "")
    assert (default_lineage(plain), default_report(plain)) == (lineage, report)
    asked = SubscriptionDefinition("q", language, "", lineage=not lineage, report="completions")
    assert (default_lineage(asked), default_report(asked)) == (not lineage, "completions")
