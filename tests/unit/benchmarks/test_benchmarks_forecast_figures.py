"""P-ToPSS 6.2: states along synthetic streams are right, notices are the watch's, the paper's sentences are judged."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from benchmarks import forecast_trial
from benchmarks.composite_workload import Chain, Settings, stream, subscriptions
from benchmarks.forecasts import page, statements, synthetic
from benchmarks.forecasts.notices import Told
from benchmarks.forecasts.synthetic import Occurrences, entries, told, trained
from broker.forecast.notifying import Notifier

LOAD = Settings(count=8, length=5, pool=6, irrelevant=4, partial=10, full=5)


def states_one_by_one(chain: Chain, events: list[int]) -> list[int]:
    """The most advanced live state after each event, by following every partial match."""
    ends = {sum(map(len, chain.terms[: number + 1])) for number in range(len(chain.terms) - 1)}
    final = len(chain.primitives)
    live = {0}
    found: list[int] = []
    for kind in events:
        moved = {place + 1 for place in live if place < final and chain.primitives[place] == kind}
        live = {place for place in live if place in ends or place == 0} | moved
        found.append(max(live))
        live.discard(final)
    return found


def spread_out(walked: list[tuple[int, int]], length: int) -> list[int]:
    known = dict(walked)
    state, found = 0, []
    for at in range(length):
        state = known.get(at, state)
        found.append(state)
    return found


@pytest.mark.parametrize("gaps", [0, 1, 2, 4])
def test_states_along_a_stream_are_those_of_every_partial_match(gaps: int) -> None:
    load = replace(LOAD, gaps=gaps)
    chains = subscriptions(load)
    events = list(stream(load, chains))
    matches = 0
    for chain in chains:
        expected = states_one_by_one(chain, events)
        walked = entries(chain, Occurrences(events, load.pool))
        assert spread_out(walked, len(events)) == expected
        assert [at for at, state in walked if state == load.length] == [
            at for at, state in enumerate(expected) if state == load.length
        ]
        matches += expected.count(load.length)
    assert matches > 20


def test_a_chain_is_trained_on_every_event_of_the_stream() -> None:
    chains = subscriptions(LOAD)
    events = list(stream(LOAD, chains))
    walked = entries(chains[0], Occurrences(events, LOAD.pool))
    states = [0, *spread_out(walked, len(events))]
    passage = trained(LOAD.length, walked, len(events), 5)
    for state in range(LOAD.length):
        leaving = [following for before, following in pairwise(states) if before == state]
        if leaving:
            assert passage.within(state, 1) == pytest.approx(leaving.count(LOAD.length) / len(leaving))


def test_notices_are_the_watchs_at_every_event() -> None:
    chains = subscriptions(LOAD)
    events = list(stream(LOAD, chains))
    some = 0
    for chain in chains[:3]:
        walked = entries(chain, Occurrences(events, LOAD.pool))
        passage = trained(LOAD.length, walked, len(events), max(synthetic.STEPS))
        for cell in told(LOAD.length, passage, walked, len(events)):
            watch = Notifier("each", cell.threshold, cell.steps)
            outcomes: list[object] = []
            for at, state in enumerate(spread_out(walked, len(events))):
                final = state == LOAD.length
                resolution = watch.matched(0, at) if final else watch.advance(0, at)
                outcomes += [resolution.outcome] if resolution else []
                watch.update(0, at, at, 0.0 if final else passage.next(state, cell.steps), state)
            assert (cell.true, cell.false) == (outcomes.count(True), outcomes.count(False))
            some += cell.true
    assert some > 50


def cells(precision: float, rise: float, fall: float) -> list[Told]:
    """Precision rises with the threshold, the less the higher, and falls with the lookahead, where it is low."""
    found: list[Told] = []
    for steps in (1, 5, 10):
        for threshold in (0.3, 0.5, 0.7, 0.9, 0.95):
            share = precision + rise * (1 - (1 - threshold) ** 2) - fall * (steps - 1) * (1 - threshold)
            true = round(10_000 * share)
            found.append(Told(threshold, steps, true, 10_000 - true))
    return found


def test_what_the_paper_says_of_figure_10_is_judged() -> None:
    tests = {"20": cells(0.5, 0.3, 0.02), "40": cells(0.4, 0.3, 0.02)}
    said = statements.figure_10("20", tests, cells(0.45, 0.3, 0.02))
    assert [each.holds for each in said] == [True] * 6
    flat = {"20": cells(0.5, 0.0, 0.0), "40": cells(0.5, 0.0, 0.0)}
    assert [each.holds for each in statements.figure_10("20", flat, cells(0.5, 0.0, 0.0))] == [False] * 6


def test_what_the_paper_says_of_figure_11_is_judged() -> None:
    none = [Told(0.9, 10, 0, 0), Told(0.95, 10, 0, 0)]
    generated = [Told(0.5, 10, 90, 10), Told(0.7, 10, 50, 5), *none]
    full = [Told(0.5, 10, 60, 9), Told(0.7, 10, 0, 0), *none]
    assert [each.holds for each in statements.figure_11("once", generated, full)] == [True, True, True, False]
    confident = [Told(0.5, 10, 90, 10), Told(0.9, 10, 5, 0)]
    assert [each.holds for each in statements.figure_11("once", full, confident)] == [False, False, False, False]


def test_the_mathematics_can_be_timed() -> None:
    chain = forecast_trial.long_chain(10)
    assert len(chain.rows) == 10
    assert all(sum(row.chances) == pytest.approx(1.0) for row in chain.rows)
    assert 0.0 < forecast_trial.passage_seconds() < 1.0


def test_the_page_shows_what_was_measured() -> None:
    shown = page.PAGE.read_text(encoding="utf-8")
    assert page.written(shown) == shown, "run python -m benchmarks.forecasts.page"
    assert all(f"<!-- {name} -->\n| model | N |" in shown for name in page.TABLES)
