"""The public interface of the engine explains itself, compiled or not: texts, names, defaults and types."""

from __future__ import annotations

import inspect
import pydoc

import pytest

from broker.engine import Engine, Match, Results

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
