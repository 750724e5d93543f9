"""Distributes results to the attached sessions: each is encoded once, queued, and sent as far as credits allow.

Results that are too many to make at once are queued as shares. Deliveries make them in turns, a bounded number each.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final, final

from ..engine.matches.result_rows import light
from ..engine.shares import taken_out
from ..wire import WHEN_SLOW
from .attachments import Attachments
from .cursors import Cursors
from .delivery import Delivery, encoded
from .durable_delivery import AnyDelivery
from .engine_port import EngineResult
from .inputs_and_effects import Send
from .named_counts import NamedCounts
from .recent_results import RecentResults

COUNTED: Final = ("results", "notifications_sent", "notifications_missed")
"""What is counted of each subscription."""

TURN_RESULTS_MAX: Final = 512
"""Results made in one turn: it takes a few milliseconds, while all other clients wait."""


@final
class Distribution:
    """Counts what it sends, and keeps the deliveries that have results to make in the order of their turns."""

    __slots__ = (
        "_attachments", "_cursors", "_missed", "_over", "counts", "ended", "ready", "recent", "redelivered",
        "results", "retractions", "sent",
    )  # fmt: skip

    def __init__(
        self, attachments: Attachments, cursors: Cursors | None = None, counts: NamedCounts | None = None
    ) -> None:
        self._attachments = attachments
        self._cursors = Cursors() if cursors is None else cursors
        self.recent = RecentResults()
        self.ready: dict[tuple[bytes, str], AnyDelivery] = {}
        self.counts = NamedCounts(COUNTED, 1) if counts is None else counts
        self.results = 0
        self.retractions = 0
        self.sent = 0
        self.ended = 0
        self.redelivered = 0
        self._missed: dict[str, int] = dict.fromkeys(WHEN_SLOW, 0)
        self._over: dict[tuple[bytes, str], Delivery] = {}

    def distribute(self, results: Iterable[EngineResult]) -> list[Send]:
        """Encode each result once, queue it for every attached session, and send as far as credits allow.

        Afterwards `over` has the deliveries whose readers were too slow, to be ended by the caller. Shares are queued
        unmade; one without a count counts as one result.
        """
        count = 0
        touched: dict[str, None] = {}
        looked_at = self.recent.kept
        shares = taken_out(results)
        self._cursors.keep_shares(shares)
        for share in shares:
            made = 1 if share.count is None else share.count
            count += made
            self.counts.row(share.subscription)[0] += made
            for delivery in self._attachments.of(share.subscription).values():
                delivery.defer(share)
            touched[share.subscription] = None
        for result in light(results):
            count += 1
            name = result.subscription
            self.retractions += result.withdrawn
            self.counts.row(name)[0] += 1
            deliveries = self._attachments.of(name)
            cursors = self._cursors.of(name)
            seen = bool(looked_at) and name in looked_at
            if not (deliveries or cursors or seen):
                continue
            line, time = encoded(result)
            if seen:
                self.recent.note(name, line)
            for cursor in cursors:
                cursor.keep(line)
            for delivery in deliveries.values():
                delivery.offer(line, time)
            touched[name] = None
        self.results += count
        return [
            send
            for name in touched
            for key, delivery in self._attachments.of(name).items()
            for send in self.due(key, delivery)
        ]

    def due(self, key: bytes, delivery: AnyDelivery, making: int = 0) -> list[Send]:
        """The messages that may be sent to this session now; `making`: how many results of shares to make first."""
        messages = delivery.make(making) if making else delivery.due()
        for message in messages:
            self.sent += len(message.results)
            self.counts.row(delivery.subscription)[1] += len(message.results)
            self.redelivered += len(message.results) if message.redelivered else 0
        if isinstance(delivery, Delivery):
            dropped = delivery.take_dropped()
            if dropped:
                self._missed[delivery.when_slow] += dropped
                self.counts.row(delivery.subscription)[2] += dropped
            if delivery.over:
                self._over[key, delivery.subscription] = delivery
            if delivery.ready:
                self.ready.setdefault((key, delivery.subscription), delivery)
            elif self.ready:  # its shares were dropped
                self.ready.pop((key, delivery.subscription), None)
        return [Send(key, message) for message in messages]

    def over(self) -> dict[tuple[bytes, str], Delivery]:
        """The deliveries that are over, by session and subscription, each returned once."""
        over, self._over = self._over, {}
        self.ended += len(over)
        return over

    @property
    def none_over(self) -> bool:
        """Whether `over` has returned every delivery that is over."""
        return not self._over

    def has_work(self, full: Container[bytes]) -> bool:
        """Whether results can be made for a session that is not in `full`."""
        return any(session not in full for session, _ in self.ready)

    def make(self, full: Container[bytes]) -> list[Send]:
        """Make results for the delivery that has waited longest."""
        for at, delivery in self.ready.items():
            if at[0] not in full:
                del self.ready[at]  # `due` adds it at the end if there is more to make
                return self.due(at[0], delivery, TURN_RESULTS_MAX)
        return []

    def pause(self, key: bytes, delivery: AnyDelivery) -> None:
        """Send nothing more to this session, which has no connection."""
        delivery.pause()
        self.forget(key, delivery.subscription)

    def move(self, old: bytes, key: bytes, name: str) -> None:
        """Rename a paused session: it resumes over another connection."""
        delivery = self._over.pop((old, name), None)
        if delivery is not None:
            self._over[key, name] = delivery

    def forget(self, key: bytes, name: str) -> None:
        """Remove a session that was detached from the turns."""
        self.ready.pop((key, name), None)

    def check_invariants(self, sessions: Mapping[bytes, Mapping[str, AnyDelivery]]) -> None:
        """For tests; `sessions`: the deliveries of each."""
        for key, deliveries in sessions.items():
            for name, delivery in deliveries.items():
                assert self._attachments.of(name).get(key) is delivery
                assert ((key, name) in self.ready) == delivery.ready
        for key, name in self.ready:
            assert name in sessions[key]
        for key, name in self._over:
            assert name in sessions[key]
        assert sum(map(len, sessions.values())) == self._attachments.statistics()["attachments"]

    def statistics(self) -> dict[str, int]:
        """Totals since the start."""
        return {
            "results": self.results,
            "retractions": self.retractions,
            "notifications_sent": self.sent,
            "notifications_missed": sum(self._missed.values()),
            **{f"notifications_missed_{policy}": count for policy, count in self._missed.items()},
            "subscriptions_ended_slow": self.ended,
            "notifications_redelivered": self.redelivered,
        }
