"""The answers as values: the steps of a match, partial matches that came near, and what became of a match later.

Here: their fields and JSON lines. Not here: how they are found (matched, unmatched).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from .conditions import JudgedCondition
from .steps import Step

NEAREST_MAX: Final = 3
"""Partial matches that are told, and events that each of them did not take."""


@final
@dataclass(frozen=True, slots=True)
class Told:
    """A match was reported, or withdrawn: `by` what, as a word, and the ids of the events that are concerned."""

    kind: str
    by: str
    events: tuple[int, ...] = ()

    def line(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "by": self.by}
        return {**found, "events": list(self.events)} if self.events else found


@final
@dataclass(frozen=True, slots=True)
class WindowPlace:
    """Where prefix and body matched: `part` is the number of the pair of automata, `before` the number of events that
    the prefix has read, `prefix` its state then, and `body` the states of the body, before its first event and behind
    each; `keep`: which of several windows are results. Windows of the clock have none of these but their bounds."""

    part: int = 0
    before: int = 0
    prefix: int = 0
    body: tuple[int, ...] = ()
    keep: str = "each"
    clock: tuple[int, int] | None = None

    def line(self) -> dict[str, Any]:
        if self.clock is not None:
            return {"from": self.clock[0], "until": self.clock[1]}
        prefix = {"events": self.before, "state": self.prefix}
        return {"part": self.part, "prefix": prefix, "body": {"states": list(self.body)}, "keep": self.keep}


@final
@dataclass(frozen=True, slots=True)
class Why:
    """The steps of a match. `told`: when it was reported and withdrawn, if matches are withdrawn."""

    subscription: str
    id: str
    steps: tuple[Step, ...]
    told: tuple[Told, ...] = ()
    window: WindowPlace | None = None

    def line(self) -> dict[str, Any]:
        """As one JSON object."""
        found: dict[str, Any] = {"subscription": self.subscription, "id": self.id}
        if self.told:
            found["told"] = [each.line() for each in self.told]
        if self.window is not None:
            found["window"] = self.window.line()
        return {**found, "steps": [step.line() for step in self.steps]}


@final
@dataclass(frozen=True, slots=True)
class UntakenEvent:
    """An event that a partial match did not take as `name`, and the conditions that failed, at least one."""

    events: tuple[int, ...]
    name: str
    failed: tuple[JudgedCondition, ...]

    def line(self) -> dict[str, Any]:
        return {"as": self.name, "events": list(self.events), "failed": [each.line() for each in self.failed]}


@final
@dataclass(frozen=True, slots=True)
class Nearest:
    """A partial match: its steps, how many events it still needs at least, how it ended, and what it waits for.

    `state`: where it is, if its states have names or numbers for users.
    """

    steps: tuple[Step, ...]
    missing: int
    ended: str
    ended_by: tuple[int, ...]
    waits_for: tuple[tuple[str, tuple[str, ...]], ...]
    refused: tuple[UntakenEvent, ...]
    state: str = ""

    def line(self) -> dict[str, Any]:
        found: dict[str, Any] = {"steps": [step.line() for step in self.steps], "missing": self.missing}
        if self.state:
            found["state"] = self.state
        found["ended"] = self.ended
        if self.ended_by:
            found["ended by"] = list(self.ended_by)
        if self.waits_for:
            found["waits for"] = [{"as": name, "conditions": list(texts)} for name, texts in self.waits_for]
        found["refused"] = [each.line() for each in self.refused]
        return found


@final
@dataclass(frozen=True, slots=True)
class WithdrawnMatch:
    """A match that was reported and is no longer one: its events, and what withdrew it."""

    id: str
    lineage: tuple[int, ...]
    told: Told

    def line(self) -> dict[str, Any]:
        return {"id": self.id, "lineage": list(self.lineage), **self.told.line()}


@final
@dataclass(frozen=True, slots=True)
class WhyNot:
    """The partial matches that came nearest; without any, the events that came nearest to beginning one. `withdrawn`:
    matches that were one for a time. `cut`: what was left out of too many partial matches; "" if nothing."""

    subscription: str
    nearest: tuple[Nearest, ...]
    beginnings: tuple[UntakenEvent, ...]
    withdrawn: tuple[WithdrawnMatch, ...] = ()
    cut: str = ""

    def line(self) -> dict[str, Any]:
        """As one JSON object."""
        found: dict[str, Any] = {"subscription": self.subscription, "nearest": [each.line() for each in self.nearest]}
        if self.beginnings:
            found["beginnings"] = [each.line() for each in self.beginnings]
        if self.withdrawn:
            found["withdrawn"] = [each.line() for each in self.withdrawn]
        if self.cut:
            found["cut short"] = self.cut
        return found
