"""Asking an engine for probabilities: keys, horizons, refusals; and accounts that say whether to believe them."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine
from broker.engine.notices import Forecast
from broker.events.errors import DefinitionError, UnknownSubscription
from broker.forecast.asking import Probability
from client.probability import reported

PAIR = "FILTER{v = 1}(S) NEXT{$2.k = $1.k AND $2.v = 2} S"
SECOND = 1_000_000


def engine_of(forecast: dict[str, Any], query: str = PAIR, kind: str = "string") -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": kind, "v": "int"}, key="k")
    engine.subscribe("q", query=query, forecast=forecast)
    return engine


def alternate(engine: Engine, key: Any, events: int, gap: int = 10) -> None:
    now = engine.now or 0
    engine.publish("S", [now + gap * n for n in range(1, events + 1)], [(key, 1 + n % 2) for n in range(events)])


def test_a_key_is_asked_for_by_its_value_and_after_its_last_event() -> None:
    engine = engine_of({"within": 1})
    alternate(engine, "u", 101)
    alternate(engine, "v", 2)
    asked = engine.probability("q", "u")
    assert (asked.state, asked.label, asked.run, asked.time, asked.within) == (1, "1 of 2", "u", 1010, 1)
    assert asked.probability > 0.95
    assert asked.lower < asked.probability < asked.upper
    assert asked.effective == 51, "so many events were counted in the state, of all keys"
    assert engine.probability("q", "v").state == 2, "its last event has completed a match"
    assert engine.probability("q", "v").probability < 0.02, "which no event follows that completes another"
    assert engine.probability("q", ["u"]) == asked


def test_a_key_without_events_is_answered_from_what_all_keys_have_shown() -> None:
    engine = engine_of({"within": 2, "context": ["key"]})
    engine.publish("S", list(range(99)), [("u", n % 3) for n in range(99)])
    asked = engine.probability("q", "nobody")
    assert (asked.state, asked.time, asked.run, asked.calibrated) == (0, None, "nobody", None)
    assert asked.probability > 0.9
    assert engine_of({"within": 2}).probability("q", "u").effective == 0.0


def test_another_horizon_is_answered_from_the_same_chain_but_nobody_has_judged_it() -> None:
    engine = engine_of({"within": 1})
    alternate(engine, "u", 1001)
    own, twice = engine.probability("q", "u"), engine.probability("q", "u", 3)
    assert own.calibrated is True
    assert (twice.within, twice.calibrated) == (3, None)
    assert own.probability < twice.probability
    with pytest.raises(DefinitionError, match="times between events"):
        engine.probability("q", "u", "5 s")
    timed = engine_of({"within": "20us"})
    alternate(timed, "u", 100)
    assert timed.probability("q", "u", "9us").probability == 0.0, "the next event comes after ten"
    assert timed.probability("q", "u", 2) == timed.probability("q", "u", 2)


@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        (None, "expected the values of k, found null"),
        (["u", "v"], "expected the values of k"),
        (7, "k: expected a value of type string"),
    ],
)
def test_keys_that_are_none_are_refused(key: Any, complaint: str) -> None:
    with pytest.raises(DefinitionError, match=complaint):
        engine_of({"within": 1}).probability("q", key)


def test_a_text_stands_for_a_number_and_one_chain_has_no_key() -> None:
    engine = engine_of({"within": 1}, kind="int")
    alternate(engine, 7, 11)
    assert engine.probability("q", "7") == engine.probability("q", 7)
    with pytest.raises(DefinitionError, match="expected a value of type int, found string 'x'"):
        engine.probability("q", "x")
    whole = engine_of({"within": 1, "per": "stream"})
    alternate(whole, "u", 11)
    assert (whole.probability("q").run, whole.probability("q").state) == (0, 1)
    with pytest.raises(DefinitionError, match="one chain serves the whole stream"):
        whole.probability("q", "u")


@pytest.mark.parametrize("within", [0, "soon", True])
def test_a_horizon_that_is_none_is_refused(within: Any) -> None:
    with pytest.raises(DefinitionError, match="within: expected a number of events"):
        engine_of({"within": 1}).probability("q", "u", within)


def test_who_has_no_forecasts_has_no_probabilities() -> None:
    engine = engine_of({"within": 1})
    engine.subscribe("plain", query="S")
    for name in ("plain", "nobody"):
        with pytest.raises(UnknownSubscription):
            engine.probability(name, "u")


def test_parts_have_one_horizon() -> None:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "int"}, key="k")
    query = "FROM S BY k\na: v = 1\nb: v = 2\nMATCH a AND b WITHIN 1 hour"
    told = {"within": 3, "parts": True, "threshold": 0.1, "effective": 0}
    engine.subscribe("q", "ptopss", query, report="completions", forecast=told)
    alternate(engine, "u", 51)
    asked = engine.probability("q", "u")
    assert isinstance(asked, Probability)
    assert 0.5 < asked.probability <= 1.0
    assert asked.calibrated is None
    with pytest.raises(DefinitionError, match="have one horizon"):
        engine.probability("q", "u", 5)
    assert engine.probability("q", "nobody").time is None


def test_a_client_reports_all_that_the_engine_answers() -> None:
    engine = engine_of({"within": 1})
    alternate(engine, "u", 101)
    line = engine.probability("q", "u").line()
    assert reported(line).line() == line
    assert list(reported(line | {"later": 1}).line()) == list(line)


# --- accounts --------------------------------------------------------------------------------------------------------


def test_what_follows_a_match_has_an_account_of_its_own() -> None:
    """A match overlaps the next one: after it, nothing is easier to foretell. Mixed, the figures would be that."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "int"}, key="k")
    query = "FROM S BY k a, b: v > 0 MATCH a, b"
    engine.subscribe("q", "ptopss", query, report="completions", forecast={"within": 1, "effective": 0})
    values = [1 if n % 7 < 4 else 0 for n in range(700)]
    engine.publish("S", list(range(700)), [("u", value) for value in values])
    figures = engine.statistics()["forecasts"]["q"]
    # Of four in a row the first begins, which always comes true; two of the three after it go on.
    assert figures["predictions"] == 100
    assert figures["base_rate"] == 1.0
    assert figures["after_match"]["predictions"] == 300
    assert figures["after_match"]["base_rate"] == pytest.approx(2 / 3, abs=0.01)
    assert "notices" not in figures["after_match"]


BURSTS: dict[str, Any] = {"within": f"{9 * SECOND}us", "threshold": 0.5, "effective": 0}


def bursts(engine: Engine, number: int, first: int = 0) -> list[Forecast]:
    """Events come in bursts of one second each and then not for an hour; what begins at the end of one comes to
    nothing. The gaps that were measured are nearly all of the short kind."""
    told: list[Forecast] = []
    for burst in range(first, first + number):
        begin = 3_600 * SECOND * burst
        times = [begin + n * SECOND for n in range(10)]
        rows = [("u", 0)] * 9 + [("u", 1)]
        told += [m.notice for m in engine.publish("S", times, rows) if isinstance(m.notice, Forecast)]
        times = [begin + 1_800 * SECOND + n * SECOND for n in range(8)]
        rows = [("u", 0)] * 6 + [("u", 1), ("u", 2)]
        rows = rows if burst % 10 == 0 else [("u", 2)] * 8
        told += [m.notice for m in engine.publish("S", times, rows) if isinstance(m.notice, Forecast)]
    return told


def test_a_horizon_in_time_that_is_worse_than_the_base_rate_is_withheld() -> None:
    query = "FILTER{v = 1}(S) NEXT{$2.k = $1.k AND $2.v = 2} S"
    engine = engine_of(BURSTS, query)
    asked_for = engine_of({**BURSTS, "uncalibrated": True}, query)
    early, told = bursts(engine, 150), bursts(asked_for, 150)
    assert early
    assert early == told, "too little is known yet"
    assert {each.calibrated for each in told} == {None}
    later, told = bursts(engine, 250, 150), bursts(asked_for, 250, 150)
    figures = engine.statistics()["forecasts"]["q"]
    assert figures["calibrated"] is False
    assert figures["brier"] > figures["brier_base"]
    assert 0 < len(later) < len(told)
    assert figures["withheld"] > 100
    assert [each for each in later if each.calibrated is False] == []
    assert told[-1].calibrated is False
    assert told[-1].line("q")["calibrated"] is False
    engine.publish("S", [3_600 * SECOND * 400], [("u", 1)])
    assert engine.probability("q", "u").calibrated is False
    again = Engine.restore(engine.snapshot())
    assert bursts(again, 20, 401) == bursts(engine, 20, 401) == []


def test_a_horizon_in_events_is_told_and_says_that_it_is_not_calibrated() -> None:
    engine = engine_of({"within": 1, "threshold": 0.5, "effective": 0, "half_life": "1 day"})
    engine.publish("S", list(range(600)), [("u", 1 + n % 2) for n in range(600)])
    day = 86_400 * SECOND
    told = [m for m in engine.publish("S", [day] * 3_000, [("u", 1 - n % 2) for n in range(3_000)]) if m.notice]
    assert told, "the world has changed: nothing comes of what has begun"
    assert engine.statistics()["forecasts"]["q"]["withheld"] == 0
