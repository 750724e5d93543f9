"""One process that measures what forecasts cost; a job in JSON comes in, figures in JSON go out.

Either the engine on ticks with and without forecasts, in turn on the same batches, so that both meet the same minutes
of the machine; or the mathematics alone: a step, and first passages.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Any, Final, TypedDict

from broker.engine import Engine
from broker.engine import results as built
from broker.forecast import passage
from broker.forecast.chain import MarkovChain, TransitionRow, chain_of, shape
from broker.forecast.counts import Counts
from broker.forecast.forecaster import Forecaster
from broker.forecast.passage import first_passage

from .ticks import ATTRIBUTES, STREAM
from .trial import columns, load
from .unit import unit_seconds

SPAN: Final = 100  # batches between turns
STATES: Final = 100
HORIZON: Final = 10
STEPS: Final = 20_000
PASSES: Final = 3


class Job(TypedDict):
    """`ticks`: a file of packed batches; `warm`: how many of them are not timed; `forecast`: the option, of all
    subscriptions in the one engine, of none in the other."""

    ticks: str
    warm: int
    subscriptions: dict[str, str]
    forecast: dict[str, Any]


class Figures(TypedDict):
    """CPU seconds: `plain` and `predictive` of all timed events, `unit` of one, `step` of one, `passage` of a chain of
    STATES states. `forecasts` and `matches` are of all events."""

    compiled: bool
    mathematics_compiled: bool
    events: int
    plain: float
    predictive: float
    unit: float
    matches: int
    forecasts: int
    step_pool: float
    step_contexts: float
    passage: float


def measure(job: Job) -> Figures:
    """Run the job. O(batches in memory) packed, one span of them unpacked. Raises ValueError if matches differ."""
    batches = load(job["ticks"])
    timed = batches[job["warm"] :]
    engines = [_engine(job["subscriptions"], forecast) for forecast in (None, job["forecast"])]
    unit = unit_seconds(timed)
    seconds = [0.0, 0.0]
    matches = [0, 0]
    forecasts = events = 0
    for first in range(0, len(batches), SPAN):
        span = [columns(batch) for batch in batches[first : first + SPAN]]
        for place, engine in enumerate(engines):
            begun = process_time()
            results = [engine.publish(STREAM, times, rows) for times, rows in span]
            if first >= job["warm"]:
                seconds[place] += process_time() - begun
            kinds = [match.kind for found in results for match in found]
            matches[place] += kinds.count("match")
            forecasts += kinds.count("forecast")
            del results  # here, and not while the other engine is timed
        if first >= job["warm"]:
            events += sum(len(times) for times, _ in span)
    if matches[0] != matches[1]:
        raise ValueError(f"{matches[0]} matches without forecasts, {matches[1]} with them")
    return Figures(
        compiled=_compiled(built.__file__),
        mathematics_compiled=_compiled(passage.__file__),
        events=events,
        plain=seconds[0],
        predictive=seconds[1],
        unit=min(unit, unit_seconds(timed)),
        matches=matches[0],
        forecasts=forecasts,
        step_pool=step_seconds(()),
        step_contexts=step_seconds(("A", 7)),
        passage=passage_seconds(),
    )


def _engine(subscriptions: dict[str, str], forecast: dict[str, Any] | None) -> Engine:
    engine = Engine()
    engine.add_stream(STREAM, ATTRIBUTES, key="name")
    for name, query in subscriptions.items():
        engine.subscribe(name, language="cayuga", query=query, forecast=forecast)
    return engine


def _compiled(file: str | None) -> bool:
    return (file or "").endswith(tuple(EXTENSION_SUFFIXES))


def step_seconds(context: tuple[str | int, ...]) -> float:
    """CPU seconds of counting one step and asking for the probability, the best of some passes."""
    form = shape(6, {5}, successors=[(0, min(state + 1, 5)) for state in range(6)])
    best = float("inf")
    for _ in range(PASSES):
        forecaster = Forecaster("cost", form, HORIZON, Counts(), parts=len(context), keyed=bool(context))
        place = forecaster.chain(context)
        begun = process_time()
        state = 0
        for number in range(STEPS):
            following = 0 if number % 3 == 2 or state == 5 else state + 1  # 0, 1, 2, 0, 1, 2, ...
            place.step(state, following)
            place.within(following)
            state = following
        best = min(best, process_time() - begun)
    return best / STEPS


def long_chain(states: int = STATES) -> MarkovChain:
    """A pattern's chain: each state stays, goes on, or falls back to the first one."""
    rows = []
    for state in range(states):
        targets = sorted({0, state, min(state + 1, states - 1)})
        rows.append(TransitionRow(tuple(targets), tuple([1.0 / len(targets)] * len(targets))))
    return chain_of(shape(states, {states - 1}), rows)


def passage_seconds() -> float:
    """CPU seconds of all first passages of a long chain, the best of some passes."""
    chain = long_chain()
    best = float("inf")
    for _ in range(PASSES * 4):
        begun = process_time()
        first_passage(chain, HORIZON)
        best = min(best, process_time() - begun)
    return best


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
