"""Answers questions of the console about what a user may see, in portions. They change nothing and concern no session.

Each call is bounded by its page, except `names`: O(subscriptions), which is a millisecond for 100,000 where users need
no permission. Not here: the requests of clients (read_requests, administration).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from ..events import StreamDefinition, Unsupported
from ..language.subscription import SubscriptionDefinition
from .administration import Administration
from .admission import Admission
from .answers import bounded_count, stream_entry
from .attachments import Attachments
from .distribution import COUNTED
from .engine_port import EnginePort
from .intake import Intake
from .named_counts import NamedCounts
from .permissions import User

_RESULTS: Final = COUNTED.index("results")


@final
class Consulting:
    """The questions, each with the user who asks. They raise PermissionDenied, UnknownStream, UnknownSubscription."""

    def __init__(
        self,
        engine: EnginePort,
        admission: Admission,
        attachments: Attachments,
        administration: Administration,
        intake: Intake,
        counts: NamedCounts,
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._attachments = attachments
        self._administration = administration
        self._intake = intake
        self._counts = counts

    def user(self, name: str) -> User | None:
        """The user of that name, as the rules are now."""
        return self._admission.user(name)

    def streams(self, user: User) -> list[dict[str, Any]]:
        """The streams that a user may see, sorted by name."""
        visible = self._admission.visible(user, self._engine.streams)
        entries = [stream_entry(visible[name]) for name in sorted(visible)]
        return [
            {"name": e.name, "attributes": dict(e.attributes), "key": e.key, "disorder": e.disorder} for e in entries
        ]

    def definitions_of_streams(self, user: User) -> list[StreamDefinition]:
        """The same streams as they were declared."""
        return list(self._admission.visible(user, self._engine.streams).values())

    def readable(self, user: User) -> list[StreamDefinition]:
        """The streams whose events a user may read, sorted by name."""
        visible = self._admission.visible(user, self._engine.streams)
        return [visible[name] for name in sorted(visible) if user.may("read", name)]

    def readable_stream(self, user: User, name: str) -> StreamDefinition:
        """A stream whose events a user may read."""
        streams = self._engine.streams
        self._admission.check_known(user, name, streams)
        user.check("read", name)
        return streams[name]

    def events(self, user: User, stream: str, count: int) -> dict[str, dict[str, Any]]:
        """The last events of a stream by id, the oldest first."""
        names = self.readable_stream(user, stream).schema.names
        return self._intake.recent.last(stream, names, count)

    def names(self, user: User) -> list[str]:
        """The names of the subscriptions that a user may see, in no order."""
        admission, known = self._admission, self._engine.subscriptions
        return list(known) if admission.everything(user) else [name for name in known if admission.sees(user, name)]

    def subscriptions(self, user: User, names: Sequence[str]) -> list[dict[str, Any]]:
        """What there is to say of each of these, without those that are gone. O(names)."""
        known = self._engine.subscriptions
        return [self._entry(known[name]) for name in names if name in known and self._admission.sees(user, name)]

    def definition(self, user: User, name: str) -> SubscriptionDefinition:
        """A subscription."""
        if not (user.admin and name in self._engine.subscriptions):
            self._admission.check_existing(user, name, self._engine.subscriptions)
        return self._engine.subscriptions[name]

    def waiting(self, user: User, name: str, most: int) -> list[dict[str, list[int]]]:
        """At most so many partial matches: ids of events by operand; none where the executor keeps none."""
        self.definition(user, name)
        self._admission.check_values(user, name)
        try:
            return self._engine.partial_matches(name, most)
        except Unsupported:
            return []

    def sessions(self, user: User, now: int) -> list[dict[str, Any]]:
        """The sessions, the oldest first, at most 200. Raises PermissionDenied if the user is no administrator."""
        return self._administration.sessions(user, now)

    def _entry(self, definition: SubscriptionDefinition) -> dict[str, Any]:
        deliveries = self._attachments.of(definition.name).values()
        counts = self._counts.known(definition.name)
        return {
            "name": definition.name,
            "language": definition.language,
            "query": definition.query,
            "clients": len(deliveries),
            "queued": bounded_count(sum([delivery.waiting for delivery in deliveries])),
            "results": None if counts is None else bounded_count(counts[_RESULTS]),
        }
