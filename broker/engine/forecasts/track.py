"""Where one subscription is for one key, and what has passed it by since somebody looked.

Here: that data, and the form of who looks at it. Not here: when (scope), and what comes of it (outlook).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import i64

from ...forecast.forecaster import Place
from ..index.spaces import Key
from ..watcher import Watcher

if TYPE_CHECKING:
    from .scope import Group, Pulse, Scope

FOREVER: Final = 1 << 62


@final
class Track:
    """`state` of the chain after the key's event number `seen`; since then nothing has happened. `place`: where its
    steps are counted. `live`: by elementary state, the runs that wait there, as how many have which last moment; empty
    where a machine knows this. `newest` are the runs that came there last. `history`: the chain's last states. `alarm`:
    the last moment that one was set for."""

    __slots__ = (
        "alarm",
        "history",
        "live",
        "marked",
        "matched",
        "newest",
        "observer",
        "place",
        "pulse",
        "seen",
        "state",
    )

    def __init__(self, observer: Observer, pulse: Pulse, place: Place | None, seen: i64, states: int) -> None:
        self.observer = observer
        self.pulse = pulse
        self.place = place
        self.seen: i64 = seen
        self.state: i64 = 0
        self.live: list[dict[int, int]] = [{} for _ in range(states)]
        self.newest: list[Any] = [None] * states
        self.history: list[int] = []
        self.alarm: i64 = FOREVER
        self.marked = False
        self.matched = False

    def enter(self, state: i64, until: i64, run: object) -> None:
        """A run waits in an elementary state until that moment, if nothing happens."""
        runs = self.live[state]
        runs[until] = runs.get(until, 0) + 1
        self.newest[state] = run

    def leave(self, state: i64, until: i64, run: object) -> None:
        """It does not any more."""
        runs = self.live[state]
        count = runs.get(until, 0)
        if count > 1:
            runs[until] = count - 1
        elif count == 1:
            del runs[until]
        if self.newest[state] is run:
            self.newest[state] = None

    def until(self, state: i64, time: i64) -> i64:
        """The last moment at which a run of that state is live; earlier than `time` if there is none. O(moments)."""
        runs = self.live[state]
        if len(runs) == 0:
            return time - 1
        latest: i64 = time - 1
        over = False
        for until in runs:
            if until > latest:
                latest = until
            if until < time:
                over = True
        if over:
            for until in [moment for moment in runs if moment < time]:
                del runs[until]
        return latest


class Observer(Watcher):
    """Who keeps tracks: a subscription's forecasts. `bases`: how many events each key had when it came."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.bases: dict[Key, int] = {}
        self.group: Group | None = None

    def begin(self, pulse: Pulse) -> Track:
        """Its track for a key; nothing has happened on it yet."""
        raise AssertionError

    def has_told(self) -> bool:
        """Whether there are notices to collect."""
        raise AssertionError

    def settle(self, track: Track, scope: Scope) -> bool:
        """The event at hand has touched the track: take the step. Whether to look again at the next one."""
        raise AssertionError
