"""Prepared queries: what a text gives, for less."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Match, Options, Results
from broker.events.errors import DefinitionError, QueryError
from broker.language.shapes import Literal

PAIR = "FILTER{price < 9.5}(FILTER{name = 'A' AND price > 10.5} S NEXT{$2.name = $1.name} S)"
ROWS = [("A", 12.0, 1), ("B", 20.0, 2), ("A", 9.0, 3), ("B", 1.0, 4), ("A", -5.0, 5)]


def engine_of(options: Options | None = None) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"name": "string", "price": "float", "volume": "int"})
    return engine


def found(engine: Engine) -> list[Match]:
    return list(engine.publish("S", range(1, len(ROWS) + 1), ROWS))


def test_a_prepared_query_is_the_text_with_other_literals() -> None:
    literals: list[tuple[Literal, ...]] = [(9.5, "A", 10.5), (0.0, "B", 11.0), (8.0, "A", 11.0), (2.0, "it's", 1e300)]
    by_text, by_value = engine_of(), engine_of()
    prepared = by_value.prepare(PAIR)
    assert prepared.literals == (9.5, "A", 10.5)
    for number, (low, name, high) in enumerate(literals):
        quoted = "'" + str(name).replace("'", "''") + "'"
        text = PAIR.replace("9.5", repr(low)).replace("'A'", quoted).replace("10.5", repr(high))
        by_text.subscribe(f"q{number}", query=text)
        by_value.subscribe(f"q{number}", query=prepared.with_literals(low, name, high))
    assert dict(by_value.subscriptions) == dict(by_text.subscriptions)
    assert found(by_value) == found(by_text) != []


@pytest.mark.parametrize("off", [(), ("groups",)])
def test_equal_subscriptions_are_all_served(off: tuple[str, ...]) -> None:
    engine = engine_of(Options(executors_off=off))
    prepared = engine.prepare(PAIR)
    for number in range(1_000):
        engine.subscribe(f"q{number}", query=prepared)
    results = engine.publish("S", range(1, len(ROWS) + 1), ROWS)
    assert isinstance(results, Results)
    assert engine.matches == len(results.read().targets) == (1 if off else 1_000)  # merged, they have one end
    assert sorted(m.subscription for m in results) == sorted(f"q{number}" for number in range(1_000))
    for number in range(0, 1_000, 2):
        engine.unsubscribe(f"q{number}")
    engine.check_invariants()
    assert len(results) == 1_000  # what was found stays found


@pytest.mark.parametrize("query", [PAIR, "FILTER{name = 'A' AND price >= -7.5 AND price <= 10}(S)"])
def test_negative_numbers_and_all_switches(query: str) -> None:
    every: list[list[Match]] = []
    for options in (Options(), Options(indexes=False)):
        engine = engine_of(options)
        engine.subscribe("q", query=query)
        engine.subscribe("r", query=query.replace("9.5", "-4.5").replace("10", "-1"))
        every.append(sorted(found(engine), key=lambda m: (m.end, m.subscription)))
        engine.check_invariants()
    assert every[0] != []
    assert all(matches == every[0] for matches in every)


def test_numbers_beyond_exact_floats_take_states_of_their_own() -> None:
    engine = engine_of()
    for number, bound in enumerate([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]):
        engine.subscribe(f"q{number}", query=f"FILTER{{volume > {bound}}}(S)")
    results = engine.publish("S", [1, 2, 3], [("A", 1.0, 2**53), ("A", 1.0, 2**53 + 1), ("A", 1.0, 2**53 + 2)])
    assert sorted((m.end, m.subscription) for m in results) == [
        (1, "q0"),
        (2, "q0"),
        (2, "q1"),
        (3, "q0"),
        (3, "q1"),
        (3, "q2"),
    ]
    for number in range(4):
        engine.unsubscribe(f"q{number}")
    engine.check_invariants()
    assert engine.statistics()["states"] == 0


def test_what_does_not_fit_is_refused() -> None:
    engine = engine_of()
    prepared = engine.prepare(PAIR)
    for literals in ((9.5, "A"), (9, "A", 10.5), (9.5, "A", "B"), (-1.0, "A", 10.5), (float("inf"), "A", 1.0)):
        with pytest.raises(DefinitionError, match="expected"):
            prepared.with_literals(*literals)
    with pytest.raises(QueryError, match="unknown stream"):
        engine.prepare("FILTER{price > 1}(T)")
    other = engine_of()
    other.subscribe("q", query=prepared.with_literals(9.5, "A", 11.5))  # another engine compiles it anew
    assert len(found(other)) == 1
    engine.subscribe("q", query=prepared)
    with pytest.raises(DefinitionError, match="exists already"):
        engine.subscribe("q", query=prepared)
    with pytest.raises(DefinitionError, match="no name"):
        engine.subscribe("no name", query=prepared)
