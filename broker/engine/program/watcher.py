"""The interfaces through which the runtime reports events, and the states of partial matches, one event at a time.

Here: these interfaces only. Not here: what its users compute from it (forecasts).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64, mypyc_attr

from ...forecast.model_page import ModelPage
from ..matches.sources import MatchSource


class Watcher:
    """Receives reports on one subscription's runs.

    `state` is the number that the watcher gives to the state of the place; `born` and `t0` are the run's epoch of birth
    and its beginning. If a machine keeps the partial matches, `touched` is called instead, and `completed` or, if it
    `reads` matches, `told`. `page`: whoever reports may tell it instead, of its `slot`, at events of its key.
    """

    reads = False
    page: ModelPage | None = None
    slot: i64 = 0

    def seat(self, page: ModelPage | None, slot: i64) -> None:
        """Its page is another one."""
        self.page, self.slot = page, slot

    def entered(self, state: i64, born: i64, t0: i64, run: object) -> None:
        """A run starts to wait in a state."""
        raise AssertionError

    def left(self, state: i64, born: i64, t0: i64, run: object) -> None:
        """A run stops waiting in a state, because an event has affected it."""
        raise AssertionError

    def renewed(self, state: i64, before: i64, born: i64) -> None:
        """A run of one event starts to wait in a state, `born` now, and that of the event `before` stops waiting there:
        both are what `entered` and `left` say."""
        self.entered(state, born, born, None)
        self.left(state, before, before, None)

    def matched(self, born: i64) -> None:
        """A run that was born in this epoch has matched."""
        raise AssertionError

    def completed(self) -> None:
        """The machine has completed a match."""
        raise AssertionError

    def told(self, completion: MatchSource) -> None:
        """The machine has completed these matches."""
        raise AssertionError

    def touched(self) -> None:
        """An event has changed the machine's state."""
        raise AssertionError


class EventWatcher:
    """Is told of the events of a batch, in their order, around the reports on runs that each of them causes."""

    def begins(self, event: i64) -> None:
        """The event of this number is the current one from now on."""
        raise AssertionError

    def ends(self, event: i64) -> None:
        """All that it does to runs was reported. Nothing more happens if it is told twice."""
        raise AssertionError


@mypyc_attr(allow_interpreted_subclasses=True)
class Follower:
    """Receives reports on a machine without subscribers: that of a part of a subscription."""

    def admits(self, time: i64) -> bool:
        """Whether the machine accepts the current event."""
        raise AssertionError

    def completed(self, completion: MatchSource) -> None:
        """The event has completed a match of the part."""
        raise AssertionError

    def touched(self) -> None:
        """An event has changed the machine's state."""
        raise AssertionError


@final
class Watch:
    """A watcher of a place, with the watcher's number for the place."""

    def __init__(self, watcher: Watcher, state: i64) -> None:
        self.watcher = watcher
        self.state = state
