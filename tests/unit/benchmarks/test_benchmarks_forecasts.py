"""Forecast benchmarks measure what they say: outcomes, scores, notices, models and their agreement with the engine."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import write_table

from benchmarks.__main__ import main
from benchmarks.forecasts import flights, live, notices, scores, stocks, temperatures, through_engine
from benchmarks.forecasts.bands import FullModel
from benchmarks.forecasts.flights import Departure
from benchmarks.forecasts.flights import walk as flown
from benchmarks.forecasts.judging import Goal, judged, measured
from benchmarks.forecasts.logistic import Logistic, solved
from benchmarks.forecasts.scores import Predictions
from benchmarks.forecasts.walks import DAY, Ahead, Walk, transitions
from benchmarks.measuring import BenchmarkError
from broker.engine import Engine
from broker.engine.notices import Forecast
from broker.forecast.chain import counted_chain
from broker.forecast.counts import CountTable, GenerationClock
from broker.forecast.forecaster import TOLERANCE
from broker.forecast.notifying import Notifier
from broker.forecast.passage import first_passage

SINCE = temperatures.TEST_FROM
PROBABILITIES = st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.501, 0.77, 1.0])


def random_walk(seed: int, stations: int = 6, days: int = 700, around: int = SINCE) -> Walk:
    """Weather that depends on yesterday's: stations of different warmth, around the day of the test's beginning."""
    draw = random.Random(seed)
    names = [f"S{number}" for number in range(stations)]
    found = Walk(names, [], [], [], temperatures.LENGTH)
    hot = [0] * stations
    for day in range(days):
        time = around + (day - days // 2) * DAY
        for run in range(stations):
            chance = (0.2, 0.85)[hot[run] > 0] * (0.5 + 0.5 * run / stations)
            hot[run] = min(hot[run] + 1, temperatures.LENGTH) if draw.random() < chance else 0
            found.runs.append(run)
            found.times.append(time)
            found.states.append(hot[run])
    return found


def weather(walk: Walk) -> temperatures.Days:
    """Days on which it was hot or cold."""
    return temperatures.Days(walk, [90.0 if state else 60.0 for state in walk.states], [0] * len(walk))


def forecasts(walk: Walk, steps: tuple[int, ...] = (3, 10), **options: Any) -> live.Forecasts:
    """What an engine says from the test's beginning on."""
    models = {"ours": {"context": ["key", "month"], **options}}
    asked = temperatures.PARTIAL
    return through_engine.forecasts(walk, weather(walk).feed(), models, steps, asked, SINCE, lambda _: None)["ours"]


@given(st.integers(0, 1_000), st.integers(1, 12))
def test_an_outcome_is_what_the_next_steps_hold(seed: int, steps: int) -> None:
    walk = random_walk(seed, stations=2, days=30)
    ahead = Ahead(walk)
    for event in range(len(walk)):
        coming = [later for later in range(event + 1, len(walk)) if walk.runs[later] == walk.runs[event]][:steps]
        if len(coming) < steps:
            assert ahead.outcome(event, steps) is None
        else:
            assert ahead.outcome(event, steps) == any(walk.states[later] == walk.final for later in coming)
            assert ahead.known_at(event, steps) == walk.times[coming[-1]]


@given(st.lists(st.tuples(PROBABILITIES, st.booleans(), st.integers(0, 3)), min_size=1, max_size=40))
def test_the_area_is_the_share_of_pairs_in_the_right_order(made: list[tuple[float, bool, int]]) -> None:
    predictions = Predictions(*(list(column) for column in zip(*made)))
    trues = [p for p, outcome, _ in made if outcome]
    falses = [p for p, outcome, _ in made if not outcome]
    pairs = [1.0 if p > q else 0.5 if p == q else 0.0 for p in trues for q in falses]
    assert scores.area(predictions) == pytest.approx(sum(pairs) / len(pairs) if pairs else 0.5)


@given(st.lists(st.tuples(PROBABILITIES, st.booleans(), st.integers(0, 3)), min_size=1, max_size=40))
def test_each_block_once_is_the_predictions_themselves(made: list[tuple[float, bool, int]]) -> None:
    predictions = Predictions(*(list(column) for column in zip(*made)))
    [found] = scores.redrawn(predictions, 0.5, [dict.fromkeys(range(4), 1)])
    whole = scores.scored(predictions, 0.5)
    for name in ("brier", "log_loss", "ece", "true", "false", "base_rate", "auc"):
        assert found[name] == pytest.approx(whole[name])
    count = len(made)
    assert whole["brier"] == pytest.approx(sum((p - outcome) ** 2 for p, outcome, _ in made) / count)
    assert whole["true"] == sum(outcome and p > 0.5 for p, outcome, _ in made)


def test_blocks_are_drawn_alike_each_time_and_as_many_as_there_are() -> None:
    drawn = scores.drawn(range(10), 20)
    assert drawn == scores.drawn(range(10), 20)
    assert all(sum(times.values()) == 10 for times in drawn)
    assert scores.interval([float(n) for n in range(101)]) == (2.0, 98.0)


def test_a_forecast_knows_nothing_of_what_comes_later() -> None:
    walk = random_walk(2, days=200)
    cut = 6 * 150
    early = Walk(walk.names, walk.runs[:cut], walk.times[:cut], walk.states[:cut], walk.final)
    for options in ({}, {"half_life": "30 days"}, {"recalibrate": True}):
        whole, part = forecasts(walk, **options), forecasts(early, **options)
        assert part.events
        assert whole.events[: len(part.events)] == part.events
        assert all(whole.by_steps[steps][: len(part.events)] == part.by_steps[steps] for steps in part.by_steps)


def test_what_is_measured_is_what_the_engine_tells() -> None:
    walk = random_walk(7)
    said = forecasts(walk, (10,))
    feed = weather(walk).feed()
    engine = Engine()
    engine.add_stream(through_engine.STREAM, feed.attributes, key=feed.key)
    told = {"within": 10, "context": ["key", "month"], "threshold": 0.0}
    engine.subscribe("ours", "ptopss", feed.query, report="completions", forecast=told)
    notices: dict[tuple[int, str | int], float] = {}
    for begin in range(0, len(walk), 6):
        rows = [feed.row(event) for event in range(begin, begin + 6)]
        for match in engine.publish(through_engine.STREAM, walk.times[begin : begin + 6], rows):
            if isinstance(match.notice, Forecast):
                notices[match.notice.time, match.notice.run] = match.notice.probability
    compared = 0
    for event, probability in zip(said.events, said.by_steps[10]):
        found = notices.get((walk.times[event], walk.names[walk.runs[event]]))
        if found is not None:  # other stations of that day are counted meanwhile
            assert probability == pytest.approx(found, abs=TOLERANCE)
            compared += 1
    assert compared > 20


def test_another_state_than_the_walks_is_an_error() -> None:
    walk = random_walk(7, days=20)
    walk.states[-1] = 3 - walk.states[-1]
    feed = weather(random_walk(7, days=20)).feed()
    with pytest.raises(BenchmarkError, match="the engine is in"):
        through_engine.forecasts(walk, feed, {"ours": {}}, (3,), range(6), 0, lambda _: None)


def test_a_sample_has_all_days_of_some_stations() -> None:
    whole = weather(random_walk(1, stations=6, days=5))
    part = whole.sample(3)
    assert part.walk.names == ["S0", "S3"]
    assert part.walk.states == [s for s, run in zip(whole.walk.states, whole.walk.runs) if run in (0, 3)]
    assert {part.walk.names[run] for run in part.walk.runs} == {"S0", "S3"}
    assert part.temperatures == [90.0 if state else 60.0 for state in part.walk.states]


def test_a_correction_is_fitted_to_what_was_known() -> None:
    walk = random_walk(4)
    ahead = Ahead(walk)
    curves = temperatures.generated(walk, 10)
    asked = set(temperatures.PARTIAL)
    found = live.told_by_table(walk, curves.__getitem__, walk.states, (3, 10), asked)
    late = Walk(walk.names, walk.runs, walk.times, list(walk.states), walk.final)
    for event, time in enumerate(walk.times):
        if time >= SINCE:
            late.states[event] = 0
    assert live.corrections(found, ahead, SINCE) == live.corrections(found, Ahead(late), SINCE)
    fitted = live.corrections(found, ahead, SINCE)[10]
    assert fitted is not None
    before = found.corrected({3: None, 10: fitted}).predictions(ahead, 10, until=SINCE)
    assert sum(before.probabilities) == pytest.approx(sum(before.outcomes), rel=0.02), "0 and 1 stay what they are"


@pytest.mark.parametrize("steps", [3, 10])
def test_notices_once_a_run_are_the_watchs_at_every_event(steps: int) -> None:
    walk = random_walk(5)
    ahead = Ahead(walk)
    found = forecasts(walk)
    said = dict(zip(found.events, found.by_steps[steps]))
    for told in notices.once(found, ahead, steps, SINCE):
        watch = Notifier("each", told.threshold, steps)
        clocks: dict[int, int] = {}
        outcomes: list[object] = []
        for event, run in enumerate(walk.runs):
            clock = clocks[run] = clocks.get(run, 0) + 1
            final = walk.states[event] == walk.final
            resolution = watch.matched(run, clock) if final else watch.advance(run, clock)
            outcomes += [resolution.outcome] if resolution else []
            tells = event in said and walk.times[event] >= SINCE and ahead.outcome(event, steps) is not None
            watch.update(run, clock, walk.times[event], said[event] if tells else 0.0, walk.states[event])
        assert (told.true, told.false) == (outcomes.count(True), outcomes.count(False))
    assert max(cell.true for cell in notices.once(found, ahead, steps, SINCE)) > 20


def test_notices_of_states_are_forecasts_above_the_threshold() -> None:
    walk = random_walk(6)
    ahead = Ahead(walk)
    found = forecasts(walk)
    known = found.predictions(ahead, 10, since=SINCE)
    for told in notices.of_states(found, ahead, 10, SINCE):
        above = [outcome for p, outcome in zip(known.probabilities, known.outcomes) if p > told.threshold]
        assert (told.true, told.false) == (above.count(True), above.count(False))


def test_the_full_model_has_the_papers_states_and_remembers_five_days() -> None:
    full = FullModel()
    assert len(full.words) == 1_365
    walk = Walk(["S"], [0] * 7, [0] * 7, [0] * 7, temperatures.LENGTH)
    states = full.states(walk, [0, 3, 3, 3, 3, 3, 1])
    assert [full.words[state] for state in states][-2:] == [(3,) * 5, (3, 3, 3, 3, 1)]
    assert states[5] == full.final
    walk = random_walk(8, stations=1, days=50)
    passage = full.trained(walk, full.states(walk, [3 if state else 0 for state in walk.states]), SINCE + 1, 5)
    assert passage.within(full.numbers[(0, 3, 3, 3)], 1) == 0.0
    assert 0.0 < passage.within(full.numbers[(0, 3, 3, 3, 3)], 1) < 1.0


def test_an_archive_is_read_by_day_without_nulls(tmp_path: Path) -> None:
    days = [date(2006, 12, 31), date(2007, 1, 1), date(2007, 1, 2)]
    columns = {
        "station": ["B", "B", "B", "A", "A", "A"],
        "date": days * 2,
        "temp_f": [90.0, 86.0, 60.0, 87.0, None, 88.5],
    }
    write_table(pa.table(columns), tmp_path / "archive.parquet")
    found = temperatures.days(tmp_path / "archive.parquet")
    assert [found.walk.names[run] for run in found.walk.runs] == ["A", "B", "B", "A", "B"]
    assert found.walk.states == [1, 1, 0, 2, 0]
    assert found.bands == [3, 3, 2, 3, 1]
    assert found.temperatures == [87.0, 90.0, 86.0, 88.5, 60.0]
    assert found.feed().row(1) == ("B", 90.0)
    assert transitions(found.walk) == {(0, 1): 2, (1, 0): 1, (1, 2): 1, (0, 0): 1}
    assert transitions(found.walk, first=False) == {(1, 0): 1, (1, 2): 1, (0, 0): 1}
    assert transitions(found.walk, SINCE) == {(0, 1): 2}
    assert not any(each["holds"] for each in temperatures.exact(found.walk)), "of another archive nothing is said"
    (tmp_path / "damaged").write_text("no Parquet")
    with pytest.raises(BenchmarkError, match="damaged"):
        temperatures.days(tmp_path / "damaged")


def test_the_generated_chain_is_the_fractions_before_the_test() -> None:
    walk = random_walk(9)
    table = CountTable(GenerationClock())
    for (state, following), times in transitions(walk, SINCE).items():
        table.add(state, following, times)
    passage = first_passage(counted_chain(table, temperatures.form()), 10)
    curves = temperatures.generated(walk, 10)
    assert curves[4][1] == passage.within(4, 1)
    assert curves[2][2] == 0.0 < curves[2][3]


def test_closes_rise_in_a_row(tmp_path: Path) -> None:
    days = [date(2016, 1, day) for day in range(4, 10)]
    closes = [1.0, 2.0, 3.0, 3.0, 4.0, 5.0]
    table = pa.table({"symbol": ["A"] * 6, "date": days, "close": closes})
    write_table(table, tmp_path / "closes.parquet")
    walk = stocks.closes(tmp_path / "closes.parquet")
    assert walk.states == [0, 1, 2, 0, 1, 2]
    assert stocks.rise_rate(walk, walk.times[-1] + 1) == pytest.approx(4 / 5)
    assert stocks.coin(0.5, 4).within(0, 4) == pytest.approx(1 / 16)


def departure(tail: str, delay: int, hour: int) -> Departure:
    return Departure(hour, tail, "UA", "EWR", "ORD", hour, 0, 1, delay, 0.0)


def test_late_departures_in_a_row_are_those_of_an_aircraft() -> None:
    rows = [departure("N1", 16, 1), departure("N2", 99, 2), departure("N1", 15, 3), departure("N2", 17, 4)]
    rows += [departure("N2", 18, 5), departure("N2", 19, 6)]
    walk = flown(rows)
    assert walk.states == [1, 1, 0, 2, 3, 3]
    assert flights.feed(rows).row(1) == ("N2", "UA", "EWR", 99)


def test_a_regression_finds_the_odds() -> None:
    rows = [("x",)] * 100 + [("y",)] * 100
    outcomes = [True] * 80 + [False] * 20 + [True] * 30 + [False] * 70
    model = Logistic(rows, outcomes, penalty=1e-6)
    assert model.probability(("x",)) == pytest.approx(0.8, abs=1e-4)
    assert model.probability(("y",)) == pytest.approx(0.3, abs=1e-4)
    assert 0.3 < model.probability(("never seen",)) < 0.8
    assert solved([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]) == pytest.approx([1 / 11, 7 / 11])


def test_goals_are_judged_in_both_directions() -> None:
    predictions = Predictions([0.9, 0.2, 0.6], [True, False, False], [0, 1, 2])
    row = measured("ours", 5, predictions, 0.5, scores.redrawn(predictions, 0.5, scores.drawn(range(3), 5)))
    found = judged([Goal("auc", 5, 0.9, at_least=True), Goal("brier", 5, 0.1)], "ours", [row])
    assert [each["reached"] for each in found] == [True, False]


def test_data_that_are_not_part_of_the_project_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["forecast_temperatures"])
    assert "forecast_temperatures: expected --data temperatures=PATH" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["forecast_stocks", "--data", "stocks"])
    assert "expected NAME=PATH, found 'stocks'" in capsys.readouterr().err
