"""How far a subscription, or a part of one, has got for the key of the event at hand: the form of asking.

Here: that form. Not here: the answers, from runs or machines (broker.engine.forecasts).
"""

from __future__ import annotations

from mypy_extensions import i64

from ..events.instant import FOREVER
from ..events.schema import Row
from .key_state import KeyState


class Progress:
    """`elementary`: how many states runs are counted in for each key; 0 where a machine knows where it is. `until`: the
    last moment at which the last answer is sure to hold, if no event touches it."""

    def __init__(self, elementary: int) -> None:
        self.elementary = elementary
        self.until: i64 = FOREVER

    def look(self, state: KeyState, row: Row, time: i64) -> tuple[i64, bool]:
        """The chain's state, and whether the next event ends it whatever it is."""
        raise AssertionError

    def end(self, row: Row, time: i64, until: i64) -> i64:
        """The last moment at which one of the furthest partial matches can be completed. `until`: of the state."""
        raise AssertionError

    def lineage(self, state: KeyState, row: Row, time: i64) -> list[int] | None:
        """The ids of the events of one of the furthest partial matches; None where there is none."""
        raise AssertionError

    def forget(self, row: Row) -> None:
        """Drop the key's partial matches."""
        raise AssertionError

    def label(self, state: int) -> str:
        """A state of the chain, for people."""
        raise AssertionError
