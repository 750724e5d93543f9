"""The states of chains and their counts: the engine's against runs and tuples kept one by one."""

from __future__ import annotations

from collections import Counter

from doubles.chain_counts import beats, plan_of, tallied
from doubles.chain_states import Counted
from hypothesis import HealthCheck, event, given, note, settings
from strategies.forecasts import Case, engine_for, feed, played, subscribe
from strategies.typed_queries import Happening

from broker.engine import Engine

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def counted(engine: Engine) -> Counted:
    """What the engine's model holds, whenever it was counted."""
    found: Counted = Counter()
    for _, context, _, state, following, count in engine.model().counts.records():
        found[context, state, following] += count
    return found


@settings(max_examples=max(20, 2 * settings().max_examples // 5), suppress_health_check=slow)
@given(played())
def test_the_engine_counts_the_steps_of_the_chain(case_and_history: tuple[Case, list[Happening]]) -> None:
    case, history = case_and_history
    engine = engine_for(case)
    if not subscribe(engine, "q", case):
        return
    note(case.query)
    feed(engine, history)
    engine.check_invariants()
    plan = plan_of(engine, "q")
    found = beats(case, plan, history)
    event(f"{case.language}, {'keyed' if plan.positions[0][1] else 'one chain'}")
    expected = tallied(case, plan, found)
    if "half_life" in case.forecast:  # what is too old is not counted any more
        assert counted(engine) <= expected
    else:
        assert counted(engine) == expected
