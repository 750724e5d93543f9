"""Where one subscription is for one key, and what has passed it by since somebody looked.

Here: that data, and the form of who looks at it. Not here: when (scope), and what comes of it (outlook).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import i64

from ...events import instant
from ...forecast.pending import Queue
from ...forecast.place import Place
from ..index.spaces import Key
from ..watcher import Watcher

if TYPE_CHECKING:
    from .scope import Group, Pulse, Scope

FOREVER: Final = instant.FOREVER
NEVER: Final = -(1 << 62)


@final
class Spot:
    """Where one part of a subscription is for one key (combination). `on`: its machine runs, and its steps count; in
    `state` it has been since the track's event number `seen`. `done`: the last moment at which what it has completed is
    of use, and `completing` what this becomes by the event at hand, which has `matched` it."""

    __slots__ = ("completing", "done", "history", "matched", "on", "place", "state")

    def __init__(self, place: Place | None, on: bool) -> None:
        self.place = place
        self.on = on
        self.state: i64 = 0
        self.done: i64 = NEVER
        self.completing: i64 = NEVER
        self.matched = False
        self.history: list[int] = []


@final
class Track:
    """`state` of the chain after the key's event number `seen`; since then nothing has happened. `place`: where its
    steps are counted. `waiting`: how many runs are in each elementary state, and `moments`, where these have a last
    one, how many have which; empty where a machine knows this. `runs` are these with their last moments, by identity,
    where somebody wants to know. `history`: the chain's last states. `alarm`: the last moment that one was set for.
    `above`, `told`: what the watch knows of the run (notifying); `queue`, `computed`: its open predictions; `wake`: by
    when the outcome of all of them is looked at. `spots`: where the parts are, if forecasts are put together from
    such."""

    __slots__ = (
        "above",
        "alarm",
        "computed",
        "history",
        "marked",
        "matched",
        "moments",
        "observer",
        "place",
        "pulse",
        "queue",
        "runs",
        "seen",
        "spots",
        "state",
        "told",
        "waiting",
        "wake",
    )

    def __init__(
        self, observer: Observer, pulse: Pulse, place: Place | None, seen: i64, states: int, queue: Queue, own: Queue
    ) -> None:
        self.observer = observer
        self.pulse = pulse
        self.place = place
        self.seen: i64 = seen
        self.state: i64 = 0
        self.waiting: list[int] = [0] * states
        self.moments: list[dict[int, int]] = [{} for _ in range(states)]
        self.runs: list[dict[int, tuple[int, Any]]] = [{} for _ in range(states)]
        self.history: list[int] = []
        self.alarm: i64 = FOREVER
        self.marked = False
        self.matched = False
        self.above = False
        self.told = False
        self.wake: i64 = -1
        self.queue = queue
        self.computed = own
        self.spots: list[Spot] = []

    def enter(self, state: i64, until: i64, run: object) -> None:
        """A run waits in an elementary state until that moment, if nothing happens; None: nobody asks which."""
        self.waiting[state] += 1
        if until < FOREVER:
            moments = self.moments[state]
            moments[until] = moments.get(until, 0) + 1
        if run is not None:
            self.runs[state][id(run)] = (until, run)

    def leave(self, state: i64, until: i64, run: object) -> None:
        """It does not any more."""
        if run is not None:
            self.runs[state].pop(id(run), None)
        if until < FOREVER:
            moments = self.moments[state]
            count = moments.get(until, 0)
            if count == 0:
                return  # its moment has passed, and it was let go of
            if count > 1:
                moments[until] = count - 1
            else:
                del moments[until]
        self.waiting[state] -= 1

    def until(self, state: i64, time: i64) -> i64:
        """The last moment at which a run of that state is live; earlier than `time` if there is none. O(moments)."""
        waiting: i64 = self.waiting[state]
        if waiting == 0:
            return time - 1
        moments = self.moments[state]
        if len(moments) == 0:
            return FOREVER
        latest: i64 = time - 1
        over: list[int] = []
        for until in moments:
            if until > latest:
                latest = until
            if until < time:
                over.append(until)
        for until in over:
            self.waiting[state] -= moments.pop(until)
        if len(over) > 0 and len(self.runs[state]) > 0:
            self.runs[state] = {number: run for number, run in self.runs[state].items() if run[0] >= time}
        return latest

    def newest(self, state: i64, time: i64) -> Any:
        """The run that came to the state last and is live; None where nobody asks which."""
        for until, run in reversed(self.runs[state].values()):
            if until >= time:
                return run
        return None


class Observer(Watcher):
    """Who keeps tracks: a subscription's forecasts. Events up to the time `since` were before it; `bases`: how many
    these were of each key."""

    def __init__(self, number: int, since: i64) -> None:
        self.number = number
        self.since: i64 = since
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
