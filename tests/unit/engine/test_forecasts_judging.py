"""What judges count is what a slow reading of the engine's own key states counts.

Where every event touches a subscription, its calibration knows the same of its own horizon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.engine import Engine
from broker.events import DefinitionError
from broker.forecast.calibration import MILLIONTHS
from broker.forecast.judging import BUCKETS, COLUMNS, JUDGED_HORIZON_MAX, bucket_of
from broker.forecast.key_state import KeyState
from broker.forecast.model_file import Model

QUERIES: Final = {
    "rise": "SELECT * FROM S NEXT{$2.k = $1.k AND $2.v > $1.v} S",
    "later": "SELECT * FROM FILTER{v = 0}(S) NEXT{$2.k = $1.k AND $2.v = 2} FILTER{v > 0}(S)",
}
HORIZONS: Final = (1, 2, 5, 9)

events = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=80)
contexts = st.sampled_from([[], ["key"], ["key", "v"]])


def engine_of(context: list[str], effective: float = 2.0) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "int", "v": "int"}, key="k")
    for name, query in QUERIES.items():
        engine.subscribe(
            name,
            language="cayuga",
            query=query,
            forecast={"within": 2, "context": context, "effective": effective, "threshold": 0.4},
        )
    return engine


class Diary:
    """Reads each subscription's states after each event, and judges at the end, from all that was written down."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.said: list[tuple[str, Any, int, Any, tuple[float, ...]]] = []  # name, key, clock, context, chances
        self.matches: list[tuple[str, Any, int, Any]] = []
        self.saying: dict[tuple[str, Any], tuple[Any, tuple[float, ...]]] = {}

    def read(self, key: Any) -> None:
        """An event of the key has passed."""
        for name, own in self.engine.program.forecasts.subscriptions.items():
            known = own.stream.keys[key]
            state = known.states.get(own.number)
            if state is None:
                continue
            if state.seen == known.events:
                self.saying[name, key] = self._chances(state, own.effective)
                if state.state == own.states.final:
                    self.matches.append((name, key, int(known.events), state.chain.context if state.chain else ()))
            context, chances = self.saying[name, key]
            if chances:
                self.said.append((name, key, int(known.events), context, chances))

    def _chances(self, state: KeyState, effective: float) -> tuple[Any, tuple[float, ...]]:
        chain, at = state.chain, int(state.state)
        if at == 0 or chain is None or chain.effective(at) < effective:
            return (), ()
        passage = chain.level().passage(max(HORIZONS))
        return chain.context, tuple(passage.next(at, horizon) for horizon in HORIZONS)

    def bins(self, ends: Mapping[tuple[str, Any], int]) -> dict[tuple[Any, ...], Counter[str]]:
        found: dict[tuple[Any, ...], Counter[str]] = {}
        for number, horizon in enumerate(HORIZONS):
            for name, key, clock, context, chances in self.said:
                if any(match[:3] == (name, key, clock) for match in self.matches):
                    continue  # right after a match it announces the next one, but is another question
                bucket = bucket_of(chances[number])
                own = found.setdefault((name, context, horizon, bucket), Counter())
                rest = bucket * (MILLIONTHS // BUCKETS) - int(chances[number] * MILLIONTHS + 0.5)
                later = [m for n, k, m, _ in self.matches if n == name and k == key and m > clock]
                if later and later[0] - clock <= horizon:
                    own.update(hits=1, hit_rest=rest)
                elif clock + horizon <= ends[name, key]:
                    own.update(misses=1, miss_rest=rest)
                else:
                    own.update(censored=1)
                    continue
                own.update(squares=rest * rest)
            for name, key, clock, context in self.matches:
                before = max([m for n, k, m, _ in self.matches if n == name and k == key and m < clock], default=0)
                mine = [
                    said
                    for said in self.said
                    if said[0] == name and said[1] == key and max(before, clock - horizon) <= said[2] < clock
                ]
                where = mine[-1][3] if mine else context
                found.setdefault((name, where, horizon, 0), Counter()).update(matches=1)
                for threshold in range(BUCKETS):
                    over = [said for said in mine if bucket_of(said[4][number]) > threshold]
                    if over:
                        own = found.setdefault((name, where, horizon, "foretold", threshold), Counter())
                        own.update(foretold=1, lead=clock - over[0][2])
        return found


def judged(engine: Engine, values: list[tuple[int, int]], model: Model | None = None) -> tuple[Any, Diary]:
    judges = engine.program.forecasts.judge(HORIZONS, model)
    diary = Diary(engine)
    for time, (key, value) in enumerate(values, start=1):
        engine.publish("S", [time], [(key, value)])
        diary.read(key)
        for judge in judges.values():
            judge.check_invariants()
    for judge in judges.values():
        judge.close()
    engine.finish()
    return judges, diary


@given(values=events, context=contexts)
def test_judges_count_what_a_diary_counts(values: list[tuple[int, int]], context: list[str]) -> None:
    engine = engine_of(context)
    judges, diary = judged(engine, values)
    ends = {
        (name, key): int(known.events)
        for name, own in engine.program.forecasts.subscriptions.items()
        for key, known in own.stream.keys.items()
    }
    expected = diary.bins(ends)
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for name, judge in judges.items():
        for known, horizon, bucket, sums in judge.records():
            found[name, known, horizon, bucket] = dict(zip(COLUMNS, sums))
    plain = ("hits", "misses", "hit_rest", "miss_rest", "squares", "censored", "matches")
    for key in {*found, *[key for key in expected if len(key) == 4]}:
        own = found.get(key, {})
        assert {column: own.get(column, 0) for column in plain} == {
            column: expected.get(key, Counter())[column] for column in plain
        }, key
    for column in ("foretold", "lead"):
        above: Counter[tuple[Any, ...]] = Counter()
        for (*group, bucket), own in found.items():
            for threshold in range(bucket):
                above[*group, threshold] += own[column]
        assert {key: total for key, total in above.items() if total} == {
            (*key[:3], key[4]): own[column] for key, own in expected.items() if len(key) == 5 and own[column]
        }


@given(values=events, context=contexts)
def test_at_its_own_horizon_the_calibration_knows_the_same(values: list[tuple[int, int]], context: list[str]) -> None:
    engine = engine_of(context)
    judges, _ = judged(engine, values)
    own = [sums for _, horizon, _, sums in judges["rise"].records() if horizon == 2]
    total = dict(zip(COLUMNS, [sum(column) for column in zip(*own)] or [0] * len(COLUMNS)))
    known = engine.program.forecasts.subscription("rise").verification.calibration
    assert total["hits"] == sum(known.hits)
    assert total["hits"] + total["misses"] == sum(known.counts)
    assert total["surprise"] == known.log
    assert total["censored"] == known.censored
    assert total["matches"] == known.matches


def test_what_follows_a_match_is_not_mixed_with_patterns_that_have_begun() -> None:
    """Of rising values each event but the first matches: all forecasts but one are right after a match."""
    engine = engine_of([], effective=0.0)
    judges, _ = judged(engine, [(0, value) for value in range(50)])
    sums = [dict(zip(COLUMNS, sums)) for _, horizon, _, sums in judges["rise"].records() if horizon == 1]
    assert sum(found["hits"] + found["misses"] + found["censored"] for found in sums) == 1
    assert sum(found["matches"] for found in sums) == 49
    assert sum(found["foretold"] for found in sums) == 0  # over no threshold more were lost than found


@given(values=events, context=contexts)
def test_what_is_judged_changes_nothing(values: list[tuple[int, int]], context: list[str]) -> None:
    plain, watched = engine_of(context), engine_of(context)
    watched.program.forecasts.judge((1, 50))
    for time, (key, value) in enumerate(values, start=1):
        told = [found.line() for found in plain.publish("S", [time], [(key, value)])]
        assert told == [found.line() for found in watched.publish("S", [time], [(key, value)])]
    assert plain.model() == watched.model()


@given(values=events, context=contexts)
def test_a_model_of_its_own_says_always_the_same(values: list[tuple[int, int]], context: list[str]) -> None:
    """Whatever the engine learns, and however keys are divided among engines."""
    trained = engine_of(context)
    trained.publish("S", list(range(200)), [(n % 3, n * n % 4) for n in range(200)])
    model = trained.model()
    whole, _ = judged(engine_of(context), values, model)
    parts: Counter[Any] = Counter()
    for key in range(3):
        engine = engine_of(context)
        engine.load_model(model)
        judges, _ = judged(engine, [value for value in values if value[0] == key], model)
        for name, judge in judges.items():
            for known, horizon, bucket, sums in judge.records():
                parts.update({(name, known, horizon, bucket, c): n for c, n in zip(COLUMNS, sums) if n})
    expected = Counter(
        {
            (name, known, horizon, bucket, c): n
            for name, judge in whole.items()
            for known, horizon, bucket, sums in judge.records()
            for c, n in zip(COLUMNS, sums)
            if n
        }
    )
    assert {key: n for key, n in parts.items() if n} == dict(expected)


@pytest.mark.parametrize(
    ("chance", "bucket"), [(0.0, 0), (1e-12, 1), (0.001, 1), (0.0010000001, 2), (0.3, 300), (0.7, 700), (1.0, 1000)]
)
def test_buckets_hold_their_upper_ends(chance: float, bucket: int) -> None:
    assert bucket_of(chance) == bucket


@given(chance=st.floats(0, 1), threshold=st.integers(0, BUCKETS))
def test_a_bucket_is_over_a_threshold_where_the_chance_is(chance: float, threshold: int) -> None:
    assert (bucket_of(chance) > threshold) == (chance > threshold / BUCKETS)


@pytest.mark.parametrize("horizons", [[], [0], [JUDGED_HORIZON_MAX + 1], [2, 2]])
def test_wrong_horizons_are_refused(horizons: list[int]) -> None:
    with pytest.raises(DefinitionError, match="expected"):
        engine_of([]).program.forecasts.judge(horizons)


def test_forecasts_put_together_from_parts_have_one_horizon() -> None:
    engine = Engine()
    engine.add_stream("S", {"k": "int", "v": "int"}, key="k")
    query = "FROM S BY k a: v = 1 b: v = 2 MATCH a AND b"
    engine.subscribe("both", language="ptopss", query=query, forecast={"within": 5, "parts": True})
    with pytest.raises(DefinitionError, match="'both': forecasts that are put together from parts"):
        engine.program.forecasts.judge([3])
