"""Which sequences of events of a partition are windows, as tables (semantics 5.3).

Here: immutable values, comparable by meaning. Not here: their construction (constructions/windows), whether windows are
bounded (analyses/window_bounds), execution (engine).

An event belongs to a *class*: the set of conditions that it satisfies, as the bits of a number; classes that no table
tells apart are one *column*. A partition has a state of the prefix automaton, which has read all events before the
next one. If the next event may begin a window, `starts` has the state of the body automaton that begins there, and the
body reads this event and all after it. The events are a window whenever the body is in a final state, if their number
is in [least, most] and their duration at most `within`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ...algebra.normal_form import Form
from ...algebra.window_aggregates import ClockGrid, Keeping, WindowAggregate
from ...language.wording import UNSAID, Wording

DEAD: Final = -1
"""Instead of a state: no window can come of this."""


@dataclass(frozen=True, slots=True)
class WindowPart:
    """The windows of all pairs with equal bounds. Both automata begin in state 0, the body where `starts` says.

    `prefix` and `body`: the next state, by state times columns plus column. `starts`: by state of the prefix, the state
    of the body, or DEAD. `final`: by state of the body. `most` and `within` are None without a bound.
    """

    prefix: tuple[int, ...]
    starts: tuple[int, ...]
    body: tuple[int, ...]
    final: tuple[bool, ...]
    least: int = 1
    most: int | None = None
    within: int | None = None


class SharedTables:
    """Where an executor keeps what it has made of an automaton, for all that differ from it in constants only: they
    are made of one another, so they have this in common; and analyses what they have found. It has no meaning."""

    __slots__ = ("found", "made")

    def __init__(self) -> None:
        self.made: object = None
        self.found: object = None


@dataclass(frozen=True, slots=True)
class WindowAutomaton:
    """The windows of a subscription: the union of its `parts`, or those of a `clock`.

    `atoms`: the conditions on events; registers are those of the events before them: slot k holds the row of the event
    k + 1 before, slot `back` the time of this event, slot `back` + k + 1 that of the event k + 1 before. `classes`:
    each possible class with its column, ascending. `gap`: events that are further apart, in microseconds, are in no
    common window; None if unknown. `said`: the windows as text, without short forms.
    """

    atoms: tuple[Form, ...]
    back: int
    classes: tuple[tuple[int, int], ...]
    parts: tuple[WindowPart, ...]
    clock: ClockGrid | None
    keep: Keeping
    aggregates: tuple[WindowAggregate, ...]
    gap: int | None
    said: Wording = field(default=UNSAID, compare=False)
    shared: SharedTables = field(default_factory=SharedTables, compare=False, repr=False)

    @property
    def columns(self) -> int:
        return 1 + max((column for _, column in self.classes), default=0)
