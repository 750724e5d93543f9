"""Receives the reports of the engine's runs and machines: the keys whose states the current event has touched.

Here: receiving. Not here: the interface (watcher), the effect of a touched state (broker.forecast.subscription).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.batch import Integers, packed_integers
from ...events.instant import FOREVER
from ...forecast.combination import Combination
from ...forecast.key_state import KeyState
from ...forecast.model_page import ModelPage
from ..matches.sources import MatchSource
from ..program.watcher import Follower, Watcher
from .subscription import PredictiveSubscription


@final
class RunListener(Watcher):
    """Receives the reports of one subscription's runs, or its machine.

    `windows`: how long a run can be useful in each elementary state, in microseconds from its beginning, or FOREVER;
    empty for a machine.
    """

    def __init__(self, subscription: PredictiveSubscription, windows: list[int]) -> None:
        self.subscription = subscription
        self.stream = subscription.stream
        self.since: i64 = subscription.since
        self.forever: i64 = FOREVER
        self.windows: Integers = packed_integers([-1 if window == FOREVER else window for window in windows])
        self.traced = bool(subscription.subscriber.lineage)
        self.exceeding = subscription.states.exceeding
        self.reads = self.exceeding is not None
        self._last: KeyState | None = None

    def seat(self, page: ModelPage | None, slot: i64) -> None:
        self.page, self.slot, self._last = page, slot, None

    def entered(self, state: i64, born: i64, t0: i64, run: object) -> None:
        page = self.page
        if page is None and self.subscription.blank:
            page = self._begin_packed(born)
        if page is not None and self._is_packed(page):
            page.entered(self.slot, state, born)
            return
        # Other subscriptions with longer windows may share the place; a run beyond this one's window does not concern
        # it.
        until = self._until(state, t0)
        if born > self.since and until > self.stream.time:
            found = self._touched()
            if found is not None:
                found.enter(state, until, run if self.traced else None)

    def left(self, state: i64, born: i64, t0: i64, run: object) -> None:
        page = self.page
        if page is not None and self._is_packed(page):
            page.left(self.slot, state, born)
            return
        until = self._until(state, t0)
        if born > self.since and until >= self.stream.time:
            found = self._touched()
            if found is not None:
                found.leave(state, until, run if self.traced else None)

    def renewed(self, state: i64, before: i64, born: i64) -> None:
        if self.page is not None or before <= self.since or self.windows[state] >= 0 or self.subscription.blank:
            self.entered(state, born, born, None)
            self.left(state, before, before, None)
            return
        self._touched()  # as many wait as before

    def matched(self, born: i64) -> None:
        page = self.page
        if page is None and self.subscription.blank:
            page = self._begin_packed(born)
        if page is not None and self._is_packed(page):
            page.matched(self.slot, born)
            return
        if born > self.since:
            self.completed()

    def completed(self) -> None:
        found = self.stream.touch(self.subscription)
        if found is not None:
            found.matched = True

    def told(self, completion: MatchSource) -> None:
        exceeding = self.exceeding
        assert exceeding is not None
        for match in completion.all():
            if exceeding.holds(match.values[exceeding.position]):
                self.completed()
                return

    def touched(self) -> None:
        self.stream.touch(self.subscription)

    def _begin_packed(self, born: i64) -> ModelPage | None:
        """The page for its first report, at the key of the event."""
        own = self.stream.current
        if own is not None and born > self.since:
            self.subscription.begin_packed(own)
        return self.page

    def _is_packed(self, page: ModelPage) -> bool:
        """Whether the model is packed at the key of the event. Otherwise it is not packed any more."""
        if page.key is self.stream.current:
            return True
        if self.stream.current is not None:
            self.subscription.unpack()
        return False

    def _touched(self) -> KeyState | None:
        """The state for the event's key, which is mostly that of the last event."""
        own = self.stream.current
        if own is None:
            return None
        known = self._last
        if known is None or known.key is not own:
            known = self._last = self.stream.touch(self.subscription)
        else:
            self.stream.touch_known(known)
        return known

    def _until(self, state: i64, t0: i64) -> i64:
        window: i64 = self.windows[state]
        return self.forever if window < 0 else t0 + window - 1


@final
class PartFollower(Follower):
    """Receives the reports of the machine of one part, `number` from 0."""

    def __init__(self, combination: Combination, number: int) -> None:
        self.combination = combination
        self.number: i64 = number

    def admits(self, time: i64) -> bool:
        return self.combination.admits(self.number, time)

    def completed(self, completion: MatchSource) -> None:
        began: i64 = 0
        if self.combination.within < FOREVER:
            began = completion.one().start
        self.combination.completed(self.number, began)

    def touched(self) -> None:
        self.combination.stream.touch(self.combination.observer)
