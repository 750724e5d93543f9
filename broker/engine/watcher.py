"""Who wants to know where partial matches are: the form in which the runtime tells it, an event at a time.

Here: that form alone. Not here: what is made of it (forecasts).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64, mypyc_attr

from .executors.matches import MatchSource


class Watcher:
    """Told of one subscription's runs. `state` is that of the place as the watcher numbers it; `born` and `t0` are the
    run's epoch of birth and its beginning. Of composite subscriptions, which have machines, it is told `touched`."""

    def entered(self, state: i64, born: i64, t0: i64, run: object) -> None:
        """A run waits in a state from now on."""
        raise AssertionError

    def left(self, state: i64, born: i64, t0: i64, run: object) -> None:
        """It does not any more: an event has affected it."""
        raise AssertionError

    def matched(self, born: i64) -> None:
        """A run that was born then has matched."""
        raise AssertionError

    def completed(self) -> None:
        """The machine has completed a match."""
        raise AssertionError

    def touched(self) -> None:
        """An event has taken the machine on."""
        raise AssertionError


@mypyc_attr(allow_interpreted_subclasses=True)
class Follower:
    """Told of a machine that serves nobody: that of a part of a subscription."""

    def admits(self, time: i64) -> bool:
        """Whether the machine takes the event at hand."""
        raise AssertionError

    def completed(self, completion: MatchSource) -> None:
        """The event has completed a match of the part."""
        raise AssertionError

    def touched(self) -> None:
        """An event has taken the machine on."""
        raise AssertionError


@final
class Watch:
    """A watcher of a place, and the place's number with it."""

    def __init__(self, watcher: Watcher, state: i64) -> None:
        self.watcher = watcher
        self.state = state
