"""Forecasters: live equals loaded equals merged, pools are sums, bounds of staleness hold."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.forecast.chain import chain_of, mean_row, pooled_row, shape, shrunk_row
from broker.forecast.counts import Context, Counts
from broker.forecast.forecaster import PARENT_STRENGTH, POOL_STRENGTH, Forecaster
from broker.forecast.passage import first_passage

FORM = shape(4, {3}, waiting={2}, successors=[[0, 1], [0, 2], [2, 3], [0, 1]])
N = 6
Step: TypeAlias = tuple[Context, int, int, int]

keys_and_months = st.tuples(st.sampled_from(["PHX", "OSL"]), st.sampled_from([1, 7]))
arcs = st.sampled_from([(s, t) for s, row in enumerate(FORM.successors or ()) for t in row])
steps = st.lists(st.tuples(keys_and_months, arcs, st.integers(1, 30)).map(lambda x: (x[0], *x[1], x[2])), max_size=60)


def forecaster(counts: Counts, tolerance: float = 0.0) -> Forecaster:
    return Forecaster("v1", FORM, N, counts, parts=2, keyed=True, tolerance=tolerance)


def run(model: Forecaster, taken: list[Step]) -> Forecaster:
    for context, state, following, times in taken:
        model.chain(context).step(state, following, times)
    return model


def directly(taken: list[Step], context: Context) -> list[float]:
    """h for all states by the definition: counts of every pool by going through all steps."""

    def counted(state: int, wanted: tuple[Context, Context]) -> dict[int, float]:
        found: dict[int, float] = {}
        for where, source, target, times in taken:
            if source == state and where[: len(wanted[0])] == wanted[0] and where[2 - len(wanted[1]) :] == wanted[1]:
                found[target] = found.get(target, 0.0) + times
        return found

    rows = []
    for state in range(FORM.states):
        pool = pooled_row(counted(state, ((), ())), FORM, state, 0.5)
        month = shrunk_row(counted(state, ((), context[1:])), pool, POOL_STRENGTH)
        key = shrunk_row(counted(state, (context[:1], ())), pool, POOL_STRENGTH)
        rows.append(shrunk_row(counted(state, (context[:1], context[1:])), mean_row([month, key]), PARENT_STRENGTH))
    passage = first_passage(chain_of(FORM, rows), N)
    return [passage.next(state, N) for state in range(FORM.states)]


@given(steps)
def test_forecasts_are_those_of_the_definition(taken: list[Step]) -> None:
    model = run(forecaster(Counts()), taken)
    model.check_invariants()
    for context in [("PHX", 1), ("PHX", 7), ("OSL", 1), ("OSL", 7), ("new", 7), ("new", 12)]:
        expected = directly(taken, context)
        found = [model.chain(context).within(state) for state in range(FORM.states)]
        assert found == pytest.approx(expected, abs=1e-12)


@given(steps, st.sampled_from([0.3, 0.05, 0.01]))
def test_what_is_not_computed_anew_is_within_the_tolerance(taken: list[Step], tolerance: float) -> None:
    model = forecaster(Counts(), tolerance)
    for number, (context, state, following, times) in enumerate(taken):
        chain = model.chain(context)
        chain.step(state, following, times)
        chain.within(state)
        if number % 7 == 0:
            other = taken[number // 2][0]
            expected = directly(taken[: number + 1], other)
            for asked in range(FORM.states):
                assert abs(model.chain(other).within(asked) - expected[asked]) <= tolerance + 1e-9
    model.check_invariants()


@given(steps, st.integers(0, 60))
def test_live_loaded_absorbed_and_split_counts_forecast_alike(taken: list[Step], cut: int) -> None:
    live = run(forecaster(Counts()), taken)
    loaded = forecaster(live.counts)
    first, second = run(forecaster(Counts()), taken[:cut]), run(forecaster(Counts()), taken[cut:])
    chain = first.chain(("PHX", 1))
    chain.within(1)  # estimated before, and valid afterwards
    first.absorb(second.counts)
    assert first.counts == live.counts
    for context in live.counts.contexts("v1"):
        for state in range(FORM.states):
            expected = live.chain(context).within(state)
            assert loaded.chain(context).within(state) == expected
            assert first.chain(context).within(state) == expected
    assert chain.within(1) == first.chain(("PHX", 1)).within(1) == live.chain(("PHX", 1)).within(1)


def test_an_untouched_place_computes_nothing() -> None:
    model = run(forecaster(Counts(), tolerance=0.01), [(("PHX", 7), 0, 1, 1000), (("PHX", 7), 1, 2, 1000)])
    chain = model.chain(("PHX", 7))
    passage = chain.passage()
    chain.step(0, 1)
    assert chain.passage() is passage  # one in a thousand moves nothing by a hundredth
    chain.step(0, 0, 500)
    assert chain.passage() is not passage


def test_a_new_key_speaks_with_the_pool_and_with_its_weight_only() -> None:
    both_ways: list[Step] = [(("PHX", 7), 0, 1, 30), (("PHX", 7), 0, 0, 30), (("PHX", 7), 1, 2, 30)]
    model = run(forecaster(Counts()), both_ways)
    new = model.chain(("OSL", 1))
    assert new.within(2) == 0.0  # nobody has seen how that goes on: it waits, as its star edge lets it
    model.chain(("PHX", 7)).step(2, 3, 30)
    assert 0.0 < new.within(0) < new.within(2) <= 1.0
    assert new.effective(0) == PARENT_STRENGTH
    assert model.chain(("PHX", 7)).effective(0) == 60 + PARENT_STRENGTH
    assert new.effective(3) == 0.0  # nobody has seen what comes after a match
    low, high = model.chain(("PHX", 7)).interval(0, N)
    assert low < model.chain(("PHX", 7)).within(0) < high


def test_without_parts_all_is_one_pool() -> None:
    counts = Counts()
    model = Forecaster("v1", FORM, N, counts)
    model.chain().step(0, 1, 3)
    assert list(counts.records()) == [("v1", (), 0, 0, 1, 3)]
    assert model.chain().levels == (model.pool,)
    again = Forecaster("v1", FORM, N, counts)
    assert again.chain().within(1) == model.chain().within(1)
    model.absorb(counts)
    assert list(counts.records()) == [("v1", (), 0, 0, 1, 6)]
    assert model.chain().effective(0) == 6.0


def test_one_part_borrows_from_the_pool_alone() -> None:
    model = Forecaster("v1", FORM, N, Counts(), parts=1, keyed=True, tolerance=0.0)
    model.chain(("PHX",)).step(0, 1, 5)
    model.chain(("OSL",)).step(0, 0, 5)
    assert len(model.chain(("PHX",)).levels) == 2
    row = model.chain(("PHX",)).levels[-1].chain().rows[0]
    assert row.chance(1) == pytest.approx((5 + POOL_STRENGTH * 0.5) / (5 + POOL_STRENGTH))
    assert model.statistics() == {"contexts": 2, "pools": 1, "contexts_refused": 0}


def test_contexts_beyond_the_limit_are_counted_together() -> None:
    counts = Counts()
    model = Forecaster("v1", FORM, N, counts, parts=2, keyed=True, contexts_max=2)
    for number in range(5):
        model.chain((f"k{number}", 1)).step(0, 1)
    assert [(r[1], r[5]) for r in counts.records()] == [((), 3), (("k0", 1), 1), (("k1", 1), 1)]
    assert model.statistics()["contexts_refused"] == 3
    assert model.pool.table.rows == {0: {1: 5}}
    model.check_invariants()
    assert model.chain(("k9", 1)).effective(0) == 3 + POOL_STRENGTH * 0.25
    loaded = Forecaster("v1", FORM, N, counts, parts=2, keyed=True, contexts_max=2)
    assert loaded.pool.table.rows == {0: {1: 5}}


def test_what_is_forgotten_loses_its_say() -> None:
    day = 86_400_000_000
    counts = Counts(half_life=4 * day)
    model = Forecaster("v1", FORM, 1, counts, parts=1, tolerance=0.0)
    counts.clock.move(0)
    chain = model.chain((7,))
    chain.step(2, 2, 1000)
    before = chain.within(2)
    counts.clock.move(60 * day)
    chain.step(2, 3, 10)
    assert chain.within(2) > 0.8 > 0.1 > before


def test_horizons_in_time_may_reach_further() -> None:
    model = Forecaster("v1", FORM, 2, Counts())
    model.chain().step(0, 1, 10)
    assert model.chain().passage().horizon == 2
    model.reach(50)
    assert model.chain().passage().horizon == 50
