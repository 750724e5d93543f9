"""A removed stream is as one that never brings an event any more: nobody waits for it, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.engine import Engine
from broker.events import DefinitionError, UnknownStream
from broker.events.instant import LARGEST

slow = settings(deadline=None, suppress_health_check=list(HealthCheck))

TEXTS = {
    "pairs": ("cayuga", "SELECT * FROM S NEXT{} T"),
    "rises": ("afa", "FROM S, T REGISTER n INT = 0 START a FINAL b a -> b WHEN x > n SET n = x b -> b WHEN x > n"),
    "windows": ("window", "FROM S WINDOW LAST 4 us EVERY 2 us AGGREGATE count(*) AS n, sum(x) AS s"),
    "quiet": ("sase", "PATTERN SEQ(S a, ~(T b)) WHERE skip_till_next_match(a, b) { a.x > 1 } WITHIN 3 us"),
}
ORDERS = st.sampled_from([("arrival", None), ("buffer", 2), ("buffer", None), ("speculate", 2)])
EVENTS = st.lists(st.tuples(st.sampled_from("STX"), st.integers(0, 6), st.integers(0, 3)), max_size=14)


def told(results: Any) -> Counter[str]:
    return Counter(repr(each.line()) for each in results if each.kind != "punctuation")


@slow
@given(st.tuples(ORDERS, ORDERS, ORDERS), EVENTS, EVENTS, st.booleans())
def test_a_removed_stream_is_one_that_brings_nothing_any_more(
    orders: Any, before: list[Any], behind: list[Any], saved: bool
) -> None:
    engines = [Engine(), Engine()]
    found: list[Counter[str]] = [Counter(), Counter()]
    texts = {name: text for name, text in TEXTS.items() if name != "windows" or orders[0][0] != "speculate"}
    for engine in engines:
        for stream, (disorder, lateness) in zip("STX", orders):
            engine.add_stream(stream, {"x": "int"}, None, disorder, lateness)
        for name, (language, text) in texts.items():
            engine.subscribe(name, language, text)

    def feed(stream: str, time: int, x: int, number: int) -> None:
        floor = max(each.accepts_from(stream) or 0 for each in engines)
        for engine, counts in zip(engines, found):
            counts += told(engine.publish(stream, [max(time, floor)], [(x,)], [number]))

    for number, (stream, time, x) in enumerate(before):
        feed(stream, time, x, number)
    with pytest.raises(DefinitionError, match="stream 'S': read by"):
        engines[0].remove_stream("S")
    found[0] += told(engines[0].remove_stream("X"))
    if orders[2][0] != "arrival":
        found[1] += told(engines[1].punctuate(LARGEST, "X"))
    engines[0].check_invariants()
    if saved:
        engines[0] = Engine.restore(engines[0].snapshot())
    with pytest.raises(UnknownStream):
        engines[0].publish("X", [9], [(1,)])
    for number, (stream, time, x) in enumerate(behind, 100):
        if stream != "X":
            feed(stream, time + 3, x, number)
    for engine, counts in zip(engines, found):
        counts += told(engine.finish())
        engine.check_invariants()
    assert found[0] == found[1]


def test_a_stream_with_another_key_may_take_the_name_of_one_that_has_gone() -> None:
    engine = Engine()
    forecast = {"within": 3, "threshold": 0.5}
    for key, attributes in (("k", {"k": "string", "l": "string"}), ("l", {"k": "string", "l": "string"})):
        engine.add_stream("S", attributes, key)
        engine.subscribe("s", "cayuga", "SELECT * FROM S NEXT{$1.k = $2.k} S", forecast=forecast)
        described = engine.subscriptions["s"]
        assert described.forecast == forecast
        with pytest.raises(DefinitionError, match="stream 'S': read by subscription 's'"):
            engine.remove_stream("S")
        engine.publish("S", [1], [("a", "b")])
        engine.unsubscribe("s")
        assert list(engine.remove_stream("S")) == []
        assert not engine.streams


def test_what_cannot_be_removed_is_named() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    for number in range(7):
        engine.subscribe(f"s{number}", "cayuga", "SELECT * FROM S PUBLISH P")
    listed = "'s0', 's1', 's2', 's3', 's4', ..."
    with pytest.raises(DefinitionError, match=f"^stream 'S': read by 7 subscriptions {listed}$"):
        engine.remove_stream("S")
    with pytest.raises(DefinitionError, match=r"^stream 'P' is made of results: subscription 's0' publishes it$"):
        engine.remove_stream("P")
    with pytest.raises(UnknownStream, match=r"unknown stream .SS.; did you mean .S."):
        engine.remove_stream("SS")
