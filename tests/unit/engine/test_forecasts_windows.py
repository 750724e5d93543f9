"""Forecasts of windows: on streams of chance they say the true probabilities, and what has no chain is refused."""

from __future__ import annotations

import random
from itertools import product
from math import sqrt
from typing import Any

import pytest

from broker.automaton.analyses.window_chain import CHAIN_STATES_MAX, window_chain
from broker.engine import Engine
from broker.engine.notices import Forecast
from broker.events.errors import DefinitionError, LimitExceeded

EVENTS = 6_000
UNTIL_B = "FROM S WINDOW AFTER any* MATCHING [ty = 'A'] (any & !([ty = 'B']))* [ty = 'B']"
TOTALS = "FROM S WINDOW EVERY 3 EVENTS AGGREGATE sum(v) AS total"


def engine_with(query: str, forecast: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "v": "int"})
    engine.subscribe("q", language="window", query=query, lineage=True, forecast={"threshold": 0, **forecast})
    return engine


def asked_after_chance(query: str, forecast: dict[str, Any]) -> tuple[Engine, dict[str, tuple[float, float]]]:
    """What is said in each state after many independent events, with the number of steps behind it.

    A is as likely as 3 of 10, B as 2; v is each of 0 to 4 as likely.
    """
    engine = engine_with(query, forecast)
    chance = random.Random(7)
    rows = [(chance.choices("ABC", (3, 2, 5))[0], chance.randint(0, 4)) for _ in range(EVENTS)]
    engine.publish("S", list(range(1, EVENTS + 1)), rows)
    said: dict[str, tuple[float, float]] = {}
    for time in range(EVENTS + 1, EVENTS + 200):
        engine.publish("S", [time], [(chance.choices("ABC", (3, 2, 5))[0], chance.randint(0, 4))])
        found = engine.probability("q", None)
        said[found.label] = found.probability, found.effective
    return engine, said


def check(said: dict[str, tuple[float, float]], truth: dict[str, float]) -> None:
    """Within four standard deviations of shares of so many steps, each of which counts at most twice."""
    assert said.keys() == truth.keys()
    for label, (probability, steps) in said.items():
        assert steps > 100
        spread = 4 * sqrt(2 * truth[label] * (1 - truth[label]) / steps)
        assert abs(probability - truth[label]) <= spread + 2 / steps, label


def test_the_probability_that_a_window_ends() -> None:
    """From an A until the next B: three events, each of which is B as 2 of 10."""
    _, said = asked_after_chance(UNTIL_B, {"within": 3})
    opened = 1 - 0.8**3
    begins = 0.3 * (1 - 0.8**2) + 0.7 * 0.3 * 0.2  # A at once, or one later
    check(said, {"no window": begins, "match": begins, "1 event to go in state 1": opened})


def test_sets_of_states_are_exact() -> None:
    """A, anything, B: two windows may be open at once."""
    query = "FROM S WINDOW AFTER any* MATCHING [ty = 'A'] any [ty = 'B']"
    _, said = asked_after_chance(query, {"within": 2, "states": "set"})
    one, two = "2 events to go in state 1", "1 event to go in state 2"
    either = 1 - 0.8 * 0.8
    truth = {"{}": 0.0, f"{{{one}}}": 0.2, f"{{{two}}}": 0.2, f"{{{one}, {two}}}": either}
    assert said.keys() - {"match"} <= truth.keys()
    # After a match the chain does not tell whether an A has come just before: that of the B that ended it was none.
    check(said, {label: truth.get(label, 0.3 * 0.2) for label in said})


def exceeds(known: tuple[int, ...]) -> float:
    """The chance that three values, of which some are known, add up to more than 7."""
    rest = list(product(range(5), repeat=3 - len(known)))
    return sum(sum(known) + sum(more) > 7 for more in rest) / len(rest)


def level(total: int) -> int:
    return sum(total > cut for cut in (1.75, 3.5, 5.25, 7))


def test_the_probability_that_the_total_of_the_next_window_exceeds_a_number() -> None:
    """With one event to go, the level is all that the chain knows, and all that is asked."""
    _, said = asked_after_chance(TOTALS, {"within": 1, "exceeds": {"total": 7}})
    truth: dict[int, float] = {}
    for own in range(5):
        pairs = [pair for pair in product(range(5), repeat=2) if level(sum(pair)) == own]
        truth[own] = sum(map(exceeds, pairs)) / len(pairs)
    for label, (probability, steps) in said.items():
        if label.startswith("1 event to go"):
            own = int(label.split("level ")[1][0])
            spread = 4 * sqrt(truth[own] * (1 - truth[own]) / steps)
            assert abs(probability - truth[own]) <= spread + 4 / steps, label
        else:
            assert probability < 0.01, label
    assert sum("level" in label for label in said) == 3 + 5


def test_forecasts_over_several_events_are_calibrated() -> None:
    engine, _ = asked_after_chance(TOTALS, {"within": 3, "exceeds": {"total": 7}})
    found = engine.statistics()["forecasts"]["q"]
    assert found["predictions"] > 2_500
    assert found["ece"] < 0.03
    assert found["auc"] > 0.75
    for promised, came, number in found["reliability"]:
        assert abs(promised - came) < 0.03 + 4 * sqrt(promised * (1 - promised) / number)


def test_a_forecast_names_the_events_of_the_window_that_is_open() -> None:
    engine = engine_with(UNTIL_B, {"within": 2, "effective": 0})
    told = engine.publish("S", [1, 2, 3], [("C", 0), ("A", 0), ("C", 0)])
    (forecast,) = [match.notice for match in told if isinstance(match.notice, Forecast)][-1:]
    assert forecast.lineage == [2, 3]
    assert forecast.label == "1 event to go in state 1"


@pytest.mark.parametrize(
    ("query", "forecast", "said"),
    [
        ("FROM S WINDOW EVERY 5 min", {}, "expected windows that an event ends, found windows of the clock"),
        ("FROM S WINDOW SESSION 5 min", {}, "found windows that are told when they are over, such as SESSION"),
        (TOTALS, {"exceeds": 5}, r"exceeds: expected one aggregate and a number, such as \{ total = 100 \}, found"),
        (TOTALS, {"exceeds": {"sum": 5}}, r"exceeds: expected an aggregate that is a number \(total\), found"),
        (TOTALS, {"exceeds": {"total": "5"}}, "exceeds: expected a finite number for total, found string '5'"),
    ],
)
def test_what_has_no_chain_is_refused(query: str, forecast: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=f"^subscription 'q': forecast: .*{said}"):
        engine_with(query, {"within": 3, **forecast})


def test_other_languages_ask_for_no_aggregate() -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "v": "int"})
    with pytest.raises(DefinitionError, match="exceeds: expected windows with AGGREGATE"):
        engine.subscribe("q", "ptopss", "FROM S a: v > 1 MATCH a", forecast={"within": 3, "exceeds": {"total": 5}})


def test_chains_that_are_too_large_are_refused() -> None:
    query = "FROM S WINDOW LAST 100 EVENTS AGGREGATE sum(v) AS total"
    said = "at most 64 states of an open window, found more: 1 of the body times numbers of events up to 100"
    with pytest.raises(LimitExceeded, match=said):
        engine_with(query, {"within": 3})
    with pytest.raises(LimitExceeded, match="times 5 levels"):
        engine_with("FROM S WINDOW EVERY 20 EVENTS AGGREGATE count(*) AS n", {"within": 3, "exceeds": {"n": 5}})


def test_states_count_the_events_of_a_window_as_far_as_bounds_ask() -> None:
    engine = engine_with("FROM S WINDOW AFTER any* MATCHING [ty = 'A'] any* [ty = 'B'] & any{3,6}", {"within": 1})
    plan = engine.catalog.subscriptions["q"].machine
    assert plan is not None
    assert plan.automaton.windows is not None
    chain = window_chain(plan.automaton.windows)
    counted = {events: chain.left[number] for (_, events), number in chain.numbers.items()}
    assert counted == {1: 2, 2: 1, 3: 1, 4: 1, 5: 1}
    assert len(chain.left) == len(chain.labels) <= CHAIN_STATES_MAX
