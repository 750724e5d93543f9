"""Why a match was not reported: the partial matches that came nearest, and matches that were withdrawn.

Here: which of them are told. Not here: how far each came, and what stopped it (explaining), matches that were reported
(matched).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...events.event import Event, Punctuation, Retraction
from ..parts import EngineParts
from .budget import ReasonsBudget
from .explaining import AskedInput, Candidate, Question
from .fresh_engine import MakeEngine
from .reference_runs import by_failures
from .rerun import Rerun, keys_of
from .told import NEAREST_MAX, Told, WhyNot, WithdrawnMatch


def why_not(
    engine: EngineParts,
    make: MakeEngine,
    name: str,
    events: Sequence[AskedInput],
    key: object = None,
    wanted: Sequence[int] = (),
    time: int | None = None,
) -> WhyNot:
    """The partial matches of a subscription on these events that came nearest to a match.

    `key`: only those whose first event has this value of the partition, or of its stream's declared key; `wanted`: the
    ids of events that should have been a match; `time`: as things stood then. O(what the rerun needs for the events,
    times the runs at each), and at most what the budget allows; then `cut` says what was left out.
    """
    asked = list(events if time is None else _until(events, time))
    budget = ReasonsBudget(len(asked), False)
    question = Question(key, frozenset(wanted), keys_of(engine))
    rerun = Rerun(engine, make, name, asked, budget, question)
    withdrawn: dict[str, WithdrawnMatch] = {}
    for cause, matches in rerun.play(asked):
        for match in matches:
            withdrawn.pop(match.id, None)
            if match.withdrawn:
                withdrawn[match.id] = WithdrawnMatch(match.id, tuple(match.lineage or ()), Told(match.kind, *cause))
    candidates = [each for explainer in rerun.explainers for each in explainer.candidates(question)]
    found = [each.tell() for each in sorted(candidates, key=nearness)[:NEAREST_MAX]]
    beginnings = [] if found else [one for each in rerun.explainers for one in each.beginnings(question)]
    gone = [each for each in withdrawn.values() if not wanted or question.wanted.intersection(each.lineage)]
    return WhyNot(
        name,
        tuple(found),
        tuple(sorted(beginnings, key=by_failures)[:NEAREST_MAX]),
        tuple(gone[-NEAREST_MAX:]),
        budget.cut(),
    )


def nearness(each: Candidate) -> tuple[int, int, int]:
    return each.near


def _until(events: Sequence[AskedInput], time: int) -> Iterator[AskedInput]:
    """The events up to a time, and what else is about these."""
    later: set[int | None] = set()
    for each in events:
        match each:
            case Event() | Punctuation():
                if each.time <= time:
                    yield each
                elif isinstance(each, Event):
                    later.add(each.id)
            case Retraction(number):
                if number not in later:
                    yield each
            case _:
                yield each
