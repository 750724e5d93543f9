"""What the reasons of every kind of automaton provide: the steps of a match, and partial matches that came near.

A class for each time model: runs that the reference keeps (reference_runs), register automata (register_runs), windows
(window_runs). Not here: choosing among what they find (matched, unmatched).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from ...algebra.timed_stream import untimed
from ...events.event import Event, GapLine, Punctuation, Retraction, UpdateLine
from ..executors.reference.run import SeenEvent
from ..match import Match
from ..matches.sources import ids
from .steps import Step
from .told import Nearest, UntakenEvent, WindowPlace

AskedInput: TypeAlias = Event | Retraction | Punctuation | GapLine | UpdateLine
"""What an engine was given, among which reasons are looked for."""


@final
@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about matches that did not come. `key`: only those that began with this value of the partition or
    of the stream's declared key, whose position is in `positions`; `wanted`: the ids of events that should match.
    `lineage`: asked is the match of these events, and nothing else."""

    key: object = None
    wanted: frozenset[int] = frozenset()
    positions: Mapping[str, int] = field(default_factory=dict)
    lineage: frozenset[int] | None = None

    def has_key(self, event: SeenEvent) -> bool:
        """Whether a match that this event begins is asked about."""
        if self.key is None:
            return True
        asked = tuple(self.key) if isinstance(self.key, list | tuple) else (self.key,)
        position = self.positions.get(untimed(event.stream), -1)
        declared = (event.row[position],) if position >= 0 else None
        return asked in (event.partition, declared)

    def wants(self, event: SeenEvent) -> bool:
        """Whether an event is one of those that should match; all are, if none are named."""
        return not self.wanted or not self.wanted.isdisjoint(ids(event.item))

    def near(self, taken: Sequence[int], missing: int, begun: int) -> tuple[int, int, int]:
        """The order in which partial matches are told: the nearest first. `taken`: the ids of its events."""
        return -len(self.wanted.intersection(taken)), missing, begun if self.wanted else -begun

    def first_asked(self, event: SeenEvent) -> tuple[bool, int]:
        """The order in which events are looked at as the beginnings of partial matches."""
        return not self.wants(event), -event.number


@final
@dataclass(frozen=True, slots=True)
class Candidate:
    """A partial match that did not go on: its place in the order of what is near, and how it is told."""

    near: tuple[int, int, int]
    tell: Callable[[], Nearest]


class Explainer:
    """The reasons of one automaton over the events that its engine is given."""

    def watch(self, results: Any) -> None:
        """An input has been processed with these results. Costs what is noted."""

    def steps(self, match: Match) -> tuple[tuple[Step, ...], WindowPlace | None] | None:
        """The steps of a match that the last input made known; None if it is none of this automaton."""
        raise AssertionError

    def candidates(self, question: Question) -> list[Candidate]:
        """The partial matches that did not go on."""
        raise AssertionError

    def beginnings(self, question: Question) -> list[UntakenEvent]:
        """The events that begin no partial match, with the conditions that failed."""
        raise AssertionError
