"""A removed stream is as one that never brings an event any more: nobody waits for it, and nothing else changes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.engine import Engine, Options
from broker.events import DefinitionError, EventError, UnknownStream
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


OLD = {
    "all": ("cayuga", "S"),
    "pairs": ("cayuga", "SELECT * FROM S NEXT{$1.k = $2.k} S"),
    "fold": ("cayuga", "SELECT * FROM S FOLD{$1.k = $2.k} S"),
    "mixed": ("cayuga", "SELECT * FROM T NEXT{} S PUBLISH P"),
    "over": ("cayuga", "SELECT * FROM P NEXT{} S"),
    "tuples": ("ptopss", "FROM S BY k a: x > 0 b: x = 0 MATCH (a AND b) WITHIN 5"),
    "words": ("ptopss", "FROM S a: x > 0 b: x = 0 MATCH a, b"),
    "steps": ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b) { a.k = b.k } WITHIN 9"),
    "some": ("sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x = 0 } WITHIN 9"),
    "strict": ("sase", "PATTERN SEQ(S a, S+ b[]) WHERE strict_contiguity(a, b[]) { b[i].x > b[i-1].x } WITHIN 9"),
    "none": ("sase", "PATTERN SEQ(S a, ~(S b), S c) WHERE skip_till_next_match(a, b, c) { b.x = 0 } WITHIN 9"),
    "rises": ("afa", "FROM S BY k REGISTER n INT = 0 START a FINAL b a -> b WHEN x > n SET n = x b -> b WHEN x > n"),
    "times": ("window", "FROM S BY k WINDOW LAST 4 us EVERY 2 us AGGREGATE last(time) AS t, last(x) AS x, from() AS f"),
    "counts": ("window", "FROM S WINDOW LAST 3 EVENTS AGGREGATE sum(x) AS s, first(k) AS k, max(time) AS m"),
    "session": ("window", "FROM S WINDOW SESSION 3 us AGGREGATE count(*) AS n, last(k) AS who"),
}
NEW = {
    "all-y": ("cayuga", "S"),
    "pairs-y": ("cayuga", "SELECT * FROM FILTER{y > 1}(S) NEXT{$1.y = $2.y} S"),
    "fold-y": ("cayuga", "SELECT * FROM S FOLD{$1.k = $2.k, $2.y IS NULL} S"),
    "steps-y": ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b) { a.y = b.y } WITHIN 9"),
    "same": ("cayuga", "SELECT * FROM S NEXT{$1.k = $2.k} S"),
    "tuples-y": ("ptopss", "FROM S a: y > 0 b: x = 0 MATCH a; b WITHIN 5"),
    "rises-y": ("afa", "FROM S REGISTER n INT = 0 START a FINAL b a -> b WHEN y > n SET n = y b -> b WHEN y > n"),
    "counts-y": ("window", "FROM S WINDOW LAST 3 EVENTS AGGREGATE sum(y) AS s, last(k) AS k"),
}
NUMBERS = st.integers(0, 3)
WIDE = st.lists(
    st.tuples(st.sampled_from("SST"), NUMBERS, st.sampled_from("ab"), NUMBERS, st.none() | NUMBERS), max_size=14
)
OFF = st.sampled_from([(), (), ("keyed_runs",), ("groups",), ("kleene", "groups"), ("tuple_counts", "sequence_trie")])


@slow
@given(ORDERS, WIDE, WIDE, OFF, st.booleans(), st.booleans(), st.booleans())
def test_an_added_attribute_is_null_before_and_nothing_to_those_who_do_not_know_it(
    order: Any, before: list[Any], behind: list[Any], off: tuple[str, ...], saved: bool, short: bool, reset: bool
) -> None:
    narrow, widened, wide = (Engine(Options(executors_off=off)) for _ in range(3))
    disorder, lateness = order
    old = {name: text for name, text in OLD.items() if disorder != "speculate" or text[0] != "window"}
    new = {name: text for name, text in NEW.items() if disorder != "speculate" or text[0] != "window"}
    for engine in (narrow, widened, wide):
        attributes = {"k": "string", "x": "int"} | ({"y": "int?"} if engine is wide else {})
        engine.add_stream("S", attributes, None, disorder, lateness)
        engine.add_stream("T", {"k": "string", "x": "int"})
        for name, (language, text) in old.items() if engine is not wide else [("mixed", OLD["mixed"])]:
            engine.subscribe(name, language, text)  # `mixed` in each: what waits for T has not come yet
    found: dict[str, Counter[str]] = {"narrow": Counter(), "old": Counter(), "new": Counter(), "wide": Counter()}

    def tell(engine: Engine, results: Any) -> None:
        lines = told(results)
        if engine is widened:
            for line, count in lines.items():
                side = "new" if any(f"'subscription': '{name}'" in line for name in new) else "old"
                found[side][line] += count
        elif engine is narrow:
            found["narrow"] += lines
        else:
            found["wide"] += Counter({line: n for line, n in lines.items() if "'subscription': 'mixed'" not in line})

    def feed(events: list[Any], start: int, ending: bool) -> int:
        time = start
        for number, (stream, step, k, x, y) in enumerate(events, start * 100):
            time = max(time + step, *(each.accepts_from(stream) or 0 for each in (narrow, widened, wide)))
            for engine in (narrow, widened, wide):
                row: tuple[Any, ...] = (k, x)
                if stream == "S" and (engine is wide or (engine is widened and ending and not (short and y is None))):
                    row = (k, x, y if ending else None)
                tell(engine, engine.publish(stream, [time], [row], [number]))
        return time

    last = feed(before, 0, False)
    widened.add_attribute("S", "y", "int?")
    if reset and disorder == "arrival":
        for engine in (narrow, widened, wide):
            for part in engine.reset_time("S", engine.now):
                tell(engine, part)
    if saved:
        widened = Engine.restore(widened.snapshot(), widened.options)
    for engine in (widened, wide):
        for name, (language, text) in new.items():
            engine.subscribe(name, language, text)
    feed(behind, last + 1, True)
    if saved:
        widened = Engine.restore(widened.snapshot(), widened.options)
    for engine in (narrow, widened, wide):
        tell(engine, engine.finish())
        engine.check_invariants()
    assert found["old"] == found["narrow"]
    assert found["new"] == found["wide"]


def test_an_attribute_that_cannot_be_added() -> None:
    engine = Engine()
    engine.add_stream("S", {"x": "int"})
    for name, kind, reason in (
        ("x", "int?", "stream 'S': expected a new attribute, found string 'x', which it has already"),
        ("y", "int", "attribute 'y': expected a type with ?, since events so far have null, found string 'int'"),
        ("y", "integer?", "attribute 'y': expected a type, one of string, int, float, bool, string[]"),
        ("a b", "int?", "attribute"),
    ):
        with pytest.raises(DefinitionError, match=re.escape(reason)):
            engine.add_attribute("S", name, kind)
    with pytest.raises(UnknownStream):
        engine.add_attribute("T", "y", "int?")
    engine.add_attribute("S", "y", "int?")
    engine.add_attribute("S", "z", "string?")
    for attributes in ({"x": "int"}, {"x": "int", "y": "int?"}, {"x": "int", "y": "int?", "z": "string?"}):
        engine.add_stream("S", attributes)
    for attributes in ({}, {"x": "int", "z": "string?"}, {"y": "int?"}, {"x": "int", "y": "int?", "z": "int?"}):
        with pytest.raises(DefinitionError, match="is declared already, with another definition"):
            engine.add_stream("S", attributes)
    engine.subscribe("s", "cayuga", "S")
    (found,) = Engine.restore(engine.snapshot()).publish("S", [1], [(1, 2)])
    assert found.data == {"x": 1, "y": 2, "z": None}
    with pytest.raises(EventError, match="expected 3 values, found 0"):
        engine.publish("S", [1], [()])
