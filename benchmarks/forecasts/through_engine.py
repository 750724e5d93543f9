"""The forecasts that are measured: what an engine that is fed with events says when it is asked. The one way.

Events of one time are published as a batch, then the engine is asked for the probability of each key that had one and
is in a state that is asked for: `Engine.probability`, which is what anybody gets. Nothing of a later time is known to
it. Models are options of subscriptions, all in one engine, so that they meet the same events.

A model whose probabilities are corrected has an account of one horizon, so that it is a subscription for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any, Final, TypeAlias, final

from broker.engine import Engine
from broker.engine import results as built
from broker.events.schema import Row

from ..measuring import BenchmarkError, Say
from .live import Forecasts
from .walks import Walk

STREAM: Final = "Events"
EVERY: Final = 500
"""Batches between two words on how far it is."""

Models: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By name, the table `forecast` without the horizon."""


@final
@dataclass(frozen=True, slots=True)
class Feed:
    """What the events of a walk are to an engine; `row` by the number of the event, the key's value being the run's
    name. The pattern is `length` events of a key in a row for which `condition` holds."""

    attributes: Mapping[str, str]
    key: str
    condition: str
    length: int
    row: Callable[[int], Row]

    @property
    def query(self) -> str:
        names = ", ".join(f"e{number}" for number in range(1, self.length + 1))
        return f"FROM {STREAM} BY {self.key}\n{names}: {self.condition}\nMATCH {names}"


def compiled() -> bool:
    """Whether the engine is the compiled one."""
    return str(built.__file__).endswith(tuple(EXTENSION_SUFFIXES))


def forecasts(
    walk: Walk, feed: Feed, models: Models, steps: Sequence[int], asked: Collection[int], since: int, say: Say
) -> dict[str, Forecasts]:
    """By model, what is said from a time on at every event whose state is asked for. O(events x models).

    Raises BenchmarkError where the engine is in another state than the walk.
    """
    engine = Engine()
    engine.add_stream(STREAM, feed.attributes, key=feed.key)
    names: dict[str, list[str]] = {}  # the subscription to ask, by horizon
    for number, (model, options) in enumerate(models.items()):
        apart = [*steps] if options.get("recalibrate") else [max(steps)]
        for within in apart:
            told = {"threshold": 0.99, **options, "within": within}
            name = f"m{number}-{within}"
            engine.subscribe(name, "ptopss", feed.query, lineage=False, report="completions", forecast=told)
        names[model] = [f"m{number}-{each if len(apart) > 1 else max(steps)}" for each in steps]
    found = {model: Forecasts(steps) for model in models}
    begin = batches = 0
    while begin < len(walk):
        end, runs = begin, set[int]()
        while end < len(walk) and walk.times[end] == walk.times[begin] and walk.runs[end] not in runs:
            runs.add(walk.runs[end])
            end += 1
        time = walk.times[begin]
        engine.publish(STREAM, [time] * (end - begin), [feed.row(event) for event in range(begin, end)])
        if time >= since:
            for event in range(begin, end):
                if walk.states[event] in asked:
                    for model, each in found.items():
                        each.put(event, _said(engine, names[model], steps, walk, event))
        batches += 1
        if batches % EVERY == 0:
            say(f"{end:,} of {len(walk):,} events, {len(models)} models")
        begin = end
    return found


def _said(engine: Engine, names: Sequence[str], steps: Sequence[int], walk: Walk, event: int) -> list[float]:
    said: list[float] = []
    for name, within in zip(names, steps, strict=True):
        answer = engine.probability(name, walk.names[walk.runs[event]], within)
        if answer.state != walk.states[event]:
            raise BenchmarkError(f"event {event}: expected state {walk.states[event]}, the engine is in {answer.label}")
        said.append(answer.probability)
    return said
