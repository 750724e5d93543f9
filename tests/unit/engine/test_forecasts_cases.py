"""Forecasts in the engine, case by case: what was once counted or told wrongly, and what is easily checked."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Match
from broker.engine.notices import Forecast, Resolution

PAIR = "FILTER{v = 1}(S) NEXT{$2.k = $1.k} S"


def keyed(*subscriptions: tuple[str, str, dict[str, Any]]) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "v": "int"}, key="k")
    for name, query, forecast in subscriptions:
        engine.subscribe(name, query=query, lineage=True, forecast=forecast)
    return engine


def publish(engine: Engine, *events: tuple[int, str, int], first: int = 1) -> list[Match]:
    found: list[Match] = []
    for number, (time, key, value) in enumerate(events, first):
        found += engine.publish("S", [time], [(key, value)], ids=[number])
    return found


def forecasts(matches: list[Match]) -> list[Forecast]:
    return [m.notice for m in matches if isinstance(m.notice, Forecast)]


def counts(engine: Engine, name: str = "q") -> dict[tuple[Any, int, int], int]:
    records = [r for r in engine.model().counts.records() if r[0].startswith(f"{name}@")]
    return {(context, state, following): count for _, context, _, state, following, count in records}


def test_states_and_counts_by_hand() -> None:
    engine = keyed(("q", PAIR, {"within": 2}))
    publish(engine, (1, "u", 0), (2, "u", 1), (3, "v", 0), (4, "u", 0), (5, "u", 0), (6, "v", 1))
    # u: nothing, begun, match, nothing; v: nothing, begun
    assert counts(engine) == {((), 0, 0): 2, ((), 0, 1): 2, ((), 1, 2): 1, ((), 2, 0): 1}


def test_a_chain_for_the_whole_stream_has_the_run_0() -> None:
    engine = keyed(("q", PAIR, {"within": 2, "per": "stream", "threshold": 0.1, "effective": 0}))
    told = forecasts(publish(engine, (1, "u", 1), (2, "v", 1), (3, "u", 1)))
    assert told
    assert {forecast.run for forecast in told} == {0}


def test_keys_of_several_parts_have_different_names() -> None:
    engine = Engine()
    engine.add_stream("S", {"a": "string", "b": "string"})
    query = "FROM S BY a, b\nx, y: TRUE\nMATCH x, y"
    engine.subscribe("q", "ptopss", query, forecast={"within": 2, "threshold": 0.1, "effective": 0})
    rows = [("u|v", "w"), ("u", "v|w")] * 3
    told = forecasts(list(engine.publish("S", list(range(6)), rows)))
    assert {forecast.run for forecast in told} == {r"u\|v|w", r"u|v\|w"}


def test_variables_in_different_attributes_make_one_chain_of_all_values() -> None:
    engine = Engine()
    engine.add_stream("S", {"a": "int", "b": "int"})
    query = "FROM S\nx: a = $n\ny: b = $n\nz: a = $n AND b < 0\nMATCH x; y; z"
    engine.subscribe("q", "ptopss", query, forecast={"within": 2})
    engine.publish("S", [1, 2, 3], [(1, 7), (2, 1), (3, 8)])
    # After the second event one tuple waits for z with 1; the third changes nothing of that.
    assert counts(engine) == {((), 0, 1): 1, ((), 1, 2): 1, ((), 2, 2): 1}


def test_branches_of_a_union_have_windows_of_their_own() -> None:
    pair = "(S NEXT{$2.k = $1.k} S)"
    engine = keyed(("q", f"FILTER{{DUR <= 3}}{pair} UNION FILTER{{v = 9}}{pair}", {"within": 2}))
    engine.publish("S", [3, 5], [("u", 0), ("v", 0)], starts=[1, 5])
    # What lasts for three already waits in the second branch only, though both branches share the place.
    assert counts(engine) == {((), 0, 2): 1, ((), 0, 1): 1}


def test_the_epoch_in_which_a_subscription_comes_is_not_its_own() -> None:
    engine = keyed(("other", PAIR, {"within": 2}))
    publish(engine, (1, "u", 1), (1, "v", 0))
    engine.subscribe("q", query=PAIR, forecast={"within": 2})
    publish(engine, (1, "u", 1), (1, "w", 0), (2, "u", 1), (2, "w", 0))
    assert counts(engine) == {((), 0, 0): 1, ((), 0, 1): 1}


@pytest.mark.parametrize("leaves", [False, True])
def test_who_comes_later_is_told_a_context_that_others_know(leaves: bool) -> None:
    told = {"within": 2, "context": ["key"]}
    engine = keyed(("other", PAIR, told), ("third", PAIR, {"within": 2}))
    publish(engine, (1, "u", 0), (2, "u", 0))
    if leaves:
        engine.unsubscribe("other")
    engine.subscribe("q", query="FILTER{v = 5}(S) NEXT{$2.k = $1.k} S", forecast=told)
    publish(engine, (3, "u", 0), (4, "u", 0), (5, "u", 0))
    assert counts(engine) == {(("u",), 0, 0): 2}


def test_ids_do_not_depend_on_who_was_there_before() -> None:
    told = {"within": 3, "threshold": 0.1, "effective": 0}
    alone, beside = keyed(), keyed(("other", PAIR, told))
    for engine in (alone, beside):
        publish(engine, (1, "u", 0), (2, "u", 1))
        engine.subscribe("q", query=PAIR, forecast=told)
    found = [
        [m for m in publish(engine, (3, "u", 1), (4, "u", 0), (5, "u", 0)) if m.subscription == "q"]
        for engine in (alone, beside)
    ]
    assert found[0] == found[1]
    assert forecasts(found[0])


def test_the_lineage_of_a_forecast_is_that_of_a_run_that_lives() -> None:
    triple = "(FILTER{v = 1}(S) NEXT{$2.k = $1.k AND $2.v = 2} S) NEXT{$2.k = $1.k AND $2.v = 3 AND DUR <= 9} S"
    engines = [keyed(("q", triple, {"within": 2, "threshold": 0, "effective": 0})) for _ in range(2)]
    before = [(1, "u", 1), (2, "u", 2), (3, "u", 3), (11, "u", 1), (12, "u", 2), (25, "u", 0), (26, "u", 0)]
    for engine in engines:
        assert forecasts(publish(engine, *before))[-1].lineage == [4]
    engines[1] = Engine.restore(engines[1].snapshot())
    for engine in engines:
        (forecast,) = forecasts(publish(engine, (30, "u", 1), first=8))
        assert forecast.lineage == [8]  # that of [4, 5] was over


def test_a_run_whose_window_is_too_short_for_an_event_has_no_chance() -> None:
    window = "FILTER{v = 1}(S) NEXT{$2.k = $1.k AND DUR <= 4} S"
    engine = keyed(("q", window, {"within": "9us", "threshold": 0, "effective": 0}))
    steady = publish(engine, *[(10 * n, "u", 1) for n in range(1, 30)])
    assert not forecasts(steady)  # an event comes every 10 us, a run waits for 3
    wide = keyed(("q", PAIR, {"within": "19us", "threshold": 0, "effective": 0}))
    assert forecasts(publish(wide, *[(10 * n, "u", 1) for n in range(1, 30)]))


def test_gaps_of_a_loaded_model_stay_in_the_model() -> None:
    told = {"within": "9us"}
    first, second = keyed(("q", PAIR, told)), keyed(("q", PAIR, told))
    publish(first, (1, "u", 1), (4, "u", 0))
    second.load_model(first.model())
    assert second.model() == first.model()
    assert Engine.restore(second.snapshot()).model() == first.model()


def test_a_corrected_forecast_survives_a_snapshot() -> None:
    told = {"within": 2, "threshold": 0.3, "effective": 0, "recalibrate": True, "half_life": "100us"}
    events = [(n, "uvw"[n * n % 3], n * n % 5 % 3) for n in range(1_400)]
    whole, parts = keyed(("q", PAIR, told)), keyed(("q", PAIR, told))
    expected, found = publish(whole, *events), []
    for begin in range(0, 1_400, 50):
        found += publish(parts, *events[begin : begin + 50], first=begin + 1)
        parts = Engine.restore(parts.snapshot())
    learnt = whole.forecasts("q").verification.recalibration
    assert learnt is not None
    assert learnt.correction is not None
    assert found == expected
    assert parts.model() == whole.model()


def test_the_end_is_when_the_last_event_was_after_a_snapshot_too() -> None:
    engine = keyed(("q", PAIR, {"within": 5, "threshold": 0.1, "effective": 0}))
    (forecast,) = forecasts(publish(engine, (1, "u", 1), (2, "u", 0), (7, "u", 1)))
    engine = Engine.restore(engine.snapshot())
    (censored,) = list(engine.finish())
    assert isinstance(censored.notice, Resolution)
    assert (censored.notice.forecast, censored.notice.time) == (forecast.id, 7)
    assert not list(engine.finish())


def test_a_snapshot_outlives_contexts_that_were_loaded_and_are_forgotten() -> None:
    told = {"within": 2, "context": ["key", "v"], "half_life": "4us"}
    first, second = keyed(("q", PAIR, told)), keyed(("q", PAIR, told))
    publish(first, (1, "u", 1), (2, "u", 0), (3, "u", 1))
    second.load_model(first.model())
    publish(second, (1000, "w", 1), (1001, "w", 0))
    assert Engine.restore(second.snapshot()).model() == second.model()


def test_forgetting_is_by_the_half_life_alone() -> None:
    """Forecasts that become worse change nothing of it."""
    # What has begun matches at once; then, for as long, it never does again.
    query = "FILTER{v = 1}(S) NEXT{$2.k = $1.k AND $2.v = 2} S"
    engine = keyed(("plain", query, {"within": 1, "threshold": 0.5, "half_life": "1 day"}))
    publish(engine, *[(n, "u", 1 + n % 2) for n in range(1000)])
    publish(engine, *[(1000 + n, "u", 1) for n in range(1000)], first=1001)
    clock = engine.forecasts("plain").forecaster.clock()
    assert clock.weight(0) == 1.0
    publish(engine, (5 * 86_400_000_000, "u", 1), first=2001)
    assert clock.weight(0) == pytest.approx(2**-5)
