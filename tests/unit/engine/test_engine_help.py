"""The public interface of the engine explains itself, compiled or not: texts, names, defaults and types."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from broker.engine import Engine, Match, Results
from broker.events import ForetellError, LateEvent

PUBLIC = [
    (kind, name)
    for kind in (Engine, Match, Results)
    for name, member in inspect.getmembers(kind)
    if not name.startswith("_") and callable(member) and name in vars(kind)
]


@pytest.mark.parametrize(("kind", "name"), PUBLIC, ids=[f"{kind.__name__}.{name}" for kind, name in PUBLIC])
def test_every_method_has_a_text_and_types(kind: type, name: str) -> None:
    method = getattr(kind, name)
    assert method.__doc__
    signature = inspect.signature(method)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.name in ("self", "cls") or parameter.annotation is not inspect.Parameter.empty


def test_help_of_the_engine() -> None:
    text = pydoc.plain(pydoc.render_doc(Engine))
    assert "Matches events of any number of streams against any number of subscriptions." in text
    assert "publish(self, stream: 'str', times: 'Sequence[Any]', rows: 'Sequence[Row]'" in text
    assert "language: 'str' = " in text
    assert inspect.signature(Engine).parameters["options"].annotation == "Options | None"


def test_what_is_documented_works() -> None:
    engine = Engine()
    engine.add_stream(name="S", attributes={"x": "int"})
    engine.subscribe("q", query="S")
    assert [match.data for match in engine.publish("S", times=[1], rows=[(1,)])] == [{"x": 1}]
    assert Engine.restore(engine.snapshot()).now == engine.now == 1


WRONG: list[tuple[str, Callable[[Any], object], str]] = [
    ("name", lambda e: e.subscribe(5), "name: expected "),
    ("language", lambda e: e.subscribe("q", 5), "language: expected "),
    ("lineage", lambda e: e.subscribe("q", query="S", lineage="yes"), "lineage: expected "),
    ("query", lambda e: e.prepare(5), "query: expected "),
    ("stream", lambda e: e.publish(5, [1], [(1,)]), "stream"),
    ("times", lambda e: e.publish("S", 5, [(1,)]), "expected a sequence of times, found int 5"),
    ("rows", lambda e: e.publish("S", [1], 5), "expected a sequence of rows, found int 5"),
    ("ids", lambda e: e.publish("S", [1], [(1,)], ids=5), "expected a sequence of ids, found int 5"),
    ("starts", lambda e: e.publish("S", [1], [(1,)], starts=5), "expected a sequence of starts, found int 5"),
    ("declared", lambda e: e.add_stream(5, {}), "name: expected "),
    ("removed", lambda e: e.unsubscribe(5), "5"),
    ("updated", lambda e: e.update(5), "5"),
    ("of which", lambda e: e.publish("S", [1], [(1,)]).columns(5), "a name or a sequence of names, found int 5"),
    ("of which ones", lambda e: e.punctuate(1).columns(["q", 5]), "a sequence of names, found int 5 in it"),
    ("time", lambda e: e.punctuate("x"), "found string 'x'"),
]


@pytest.mark.parametrize(("call", "message"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_argument_is_named(call: Callable[[Engine], object], message: str) -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    with pytest.raises(ForetellError) as raised:
        call(engine)
    assert message in str(raised.value)
    assert "5" in str(raised.value) or "'x'" in str(raised.value) or "'yes'" in str(raised.value)


def test_time_passes_to_a_datetime() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    engine.punctuate(datetime(2026, 1, 1, tzinfo=UTC))
    assert engine.now is None or engine.now <= 1_767_225_600_000_000
    with pytest.raises(LateEvent):
        engine.publish("S", ["2025-12-31T23:59:59Z"], [(1,)])
