"""What the model of a predictive subscription must hold: the steps of its chains, by context.

Here: from a case to beats and from beats to counts. Not here: the state after each event (chain_states).
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from doubles.chain_states import Beat, Counted, cayuga_beats, ptopss_beats
from doubles.open_windows import window_beats
from strategies import composite_subscriptions as ptopss
from strategies import typed_queries as cayuga
from strategies.forecasts import HOUR, Case
from strategies.typed_queries import Happening

from broker.algebra.cayuga.lowering import lower
from broker.automaton.compilation import compile_query
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine import Engine
from broker.forecast.plan import ForecastPlan
from broker.language.cayuga import parse

Context: TypeAlias = tuple[str | int, ...]


def plan_of(engine: Engine, name: str) -> ForecastPlan:
    plan = engine.forecasts(name).subscriber.plan
    assert isinstance(plan, ForecastPlan)
    return plan


def beats(case: Case, plan: ForecastPlan, history: list[Happening]) -> list[Beat]:
    sets = case.forecast.get("states") == "set"
    if case.language == "ptopss":
        composite = ptopss.lowered(case.query)
        return ptopss_beats(automaton_of(decompose(composite)), dict(plan.positions), sets, history)
    if case.language == "window":
        return window_beats(case.query, plan, history)
    query = lower(parse(case.query), case.query, cayuga.SCHEMAS.get, list)
    return cayuga_beats(compile_query(query), dict(plan.positions), sets, history)


def tallied(case: Case, plan: ForecastPlan, found: list[Beat]) -> Counted:
    """Steps by the context of the event before; without one the first event is a step too, from having nothing."""
    parts = case.forecast["context"]
    names = list(case.streams[plan.positions[0][0]])
    steps: Counted = Counter()
    before: dict[Any, list[int]] = {}
    contexts: dict[Any, Context] = {}
    for beat in found:
        states = before.setdefault(beat.key, [])
        if not parts:
            steps[(), states[-1] if states else 0, beat.state] += 1
        elif states:
            steps[contexts[beat.key], states[-1], beat.state] += 1
        states.append(beat.state)
        contexts[beat.key] = context(parts, beat, names)
    return steps


def context(parts: list[str], beat: Beat, names: list[str]) -> Context:
    found: list[str | int] = []
    for part in parts:
        match part:
            case "key":
                found.append(run_of(beat.key))
            case "hour":
                found.append(beat.time // HOUR % 24)
            case name:
                value = beat.row[names.index(name)]
                assert not isinstance(value, tuple)
                found.append(-1 if value is None else value if isinstance(value, str) else int(value))
    return tuple(found)


def run_of(key: tuple[Any, ...]) -> Any:
    """The name of a key."""
    return 0 if not key else key[0] if len(key) == 1 else "|".join(map(str, key))
