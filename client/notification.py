"""One result as a reader sees it, and its acknowledgement."""

from __future__ import annotations

from typing import Any, Protocol, final

from broker.events import UnknownSubscription

from .notification_view import NotificationView


class Source(Protocol):
    """What a notification of a durable subscription needs of its client."""

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None: ...

    def acknowledge_later(self, name: str, position: int | None = None, incarnation: int | None = None) -> None: ...

    def refuse(
        self, name: str, reason: str, position: int | None = None, incarnation: int | None = None
    ) -> None: ...


@final
class Notification(NotificationView):
    """A match, or another result of the given `kind`.

    See NotificationView for its fields.
    """

    __slots__ = ("_source",)

    def __init__(self, line: dict[str, Any], incarnation: int | None = None) -> None:
        self._line = line  # a call of the base's would cost as much as all of this
        self.incarnation = incarnation
        self._source: Source | None = None

    def of(self, source: Source) -> Notification:
        """Bind the notification to the client that received it, and return it."""
        self._source = source
        return self

    def acknowledge(self) -> None:
        """Acknowledge all results of a durable subscription up to this one.

        Raises as `Client.acknowledge`, and UnknownSubscription if the subscription is not durable.
        """
        source, position = self._durable()
        source.acknowledge(self.subscription, position, self.incarnation)

    def acknowledge_later(self) -> None:
        """Acknowledge all results up to this one without waiting for the answer.

        Raises as `Client.acknowledge_later`, and UnknownSubscription if the subscription is not durable.
        """
        source, position = self._durable()
        source.acknowledge_later(self.subscription, position, self.incarnation)

    def refuse(self, reason: str) -> None:
        """Set this result of a durable subscription aside as a dead letter, because it cannot be processed.

        It is not delivered again; results before it still have to be acknowledged.
        Raises as `Client.refuse`, and UnknownSubscription if the subscription is not durable.
        """
        source, position = self._durable()
        source.refuse(self.subscription, reason, position, self.incarnation)

    def _durable(self) -> tuple[Source, int]:
        position = self.position
        if self._source is None or position is None:
            raise UnknownSubscription(f"subscription {self.subscription!r}: expected a durable one, it has no cursor")
        return self._source, position
