"""Where one subscription is for one key: the state of its chain, and since which event.

Events that pass a key by change nothing here: their number is the difference of two numbers.

Here: that data. Not here: the events that touch it (keyed_stream), the step itself (subscription).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from mypy_extensions import i64

from ..events.instant import FOREVER
from .context_chain import ContextChain
from .counts import Context
from .pending import PredictionQueue

if TYPE_CHECKING:
    from .keyed_stream import Observer, StreamKey

NEVER: Final = -(1 << 62)


@final
class PartState:
    """Where one part of a subscription is for one key (combination). `on`: its machine runs, and its steps count; in
    `state` it has been since the event of the key that the whole was last looked at. `done`: the last moment at which
    what it has completed is of use, and `completing` what this becomes by the event at hand, which has `matched` it."""

    __slots__ = ("chain", "completing", "done", "matched", "on", "state")

    def __init__(self, chain: ContextChain | None, on: bool) -> None:
        self.chain = chain
        self.on = on
        self.state: i64 = 0
        self.done: i64 = NEVER
        self.completing: i64 = NEVER
        self.matched = False


@final
class KeyState:
    """`state` of the chain after the key's event number `seen`. `chain`: that of the context under which its next step
    counts. `waiting`: how many runs are in each elementary state, and `moments`, where these have a last one, how many
    have which; empty where a machine knows this. `runs` are these with their last moments, by identity, where lineage
    is wanted. `alarm`: the last moment that one was set for. `above`, `open`: what
    the notifier knows of the key; `predictions` that have no outcome yet; `wake`: by when the outcome of all of them is
    looked at. `touched`, `matched` by the event at hand. `parts`: where these are, if forecasts are combined."""

    __slots__ = (
        "above",
        "alarm",
        "chain",
        "key",
        "matched",
        "moments",
        "observer",
        "open",
        "parts",
        "predictions",
        "runs",
        "seen",
        "state",
        "touched",
        "waiting",
        "wake",
    )

    def __init__(
        self,
        observer: Observer,
        key: StreamKey,
        chain: ContextChain | None,
        seen: i64,
        states: int,
        predictions: PredictionQueue,
    ) -> None:
        """`states`: elementary ones that runs are counted in; 0 where a machine knows where it is."""
        self.observer = observer
        self.key = key
        self.chain = chain
        self.seen: i64 = seen
        self.state: i64 = 0
        self.waiting: list[int] = [0] * states
        self.moments: list[dict[int, int]] = [{} for _ in range(states)]
        self.runs: list[dict[int, tuple[int, Any]]] = [{} for _ in range(states)]
        self.alarm: i64 = FOREVER
        self.touched = False
        self.matched = False
        self.above = False
        self.open = False
        self.wake: i64 = -1
        self.predictions = predictions
        self.parts: list[PartState] = []

    def context(self) -> Context:
        """Under which circumstances the next step is made: those of the key's last event. O(1)."""
        group = self.observer.group
        assert group is not None
        return self.key.contexts[group.number]

    def enter(self, state: i64, until: i64, run: object) -> None:
        """A run waits in an elementary state until that moment, if no event affects it. `run`: None without lineage."""
        self.waiting[state] += 1
        if until < self.observer.forever:
            moments = self.moments[state]
            moments[until] = moments.get(until, 0) + 1
        if run is not None:
            self.runs[state][id(run)] = (until, run)

    def leave(self, state: i64, until: i64, run: object) -> None:
        """Undo one `enter`."""
        if run is not None:
            self.runs[state].pop(id(run), None)
        if until < self.observer.forever:
            moments = self.moments[state]
            count = moments.get(until, 0)
            if count == 0:
                return  # its moment has passed, and `until` has dropped it
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
            return self.observer.forever
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
        """The run that came to the state last and is live; None without lineage."""
        for until, run in reversed(self.runs[state].values()):
            if until >= time:
                return run
        return None
