"""Streams published by subscriptions that revise their results, for readers that want events in order.

Such a reader gets nothing that may be withdrawn. So the publisher's automaton runs a second time, on events that are
final, as long as somebody reads what it publishes in order. It begins with the runs that final events have led to.

Here: when that is so. Not here: the readers that take results before they are final (readers).
"""

from __future__ import annotations

from typing import final

from ...automaton.arc_updates import ChangedArcs
from ...events.errors import DefinitionError
from ...events.instant import FOREVER
from ..program.account import NOT_SUSPENDED
from ..program.program import Program
from ..program.target import ALWAYS_SINCE, Feed
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber
from .readers import RevisingReaders
from .revising_groups import RevisingReader
from .stream_order import NOTHING_PROMISED
from .watermarks import Watermarks


def name_of_copy(name: str) -> str:
    """The name of the second automaton; no subscription has a name with spaces."""
    return f"{name} in order"


@final
class OrderedCopies:
    """`feeds`: the names of the subscriptions whose automata run a second time, with the streams that these make up.

    `restoring`: while a snapshot is restored, the subscriptions that revised when it was taken.
    """

    def __init__(self, catalog: Catalog, program: Program, readers: RevisingReaders, marks: Watermarks) -> None:
        self.catalog = catalog
        self.marks = marks
        self.program = program
        self.readers = readers
        self.feeds: dict[str, Feed] = {}
        self.restoring: frozenset[str] | None = None

    def can_revise(self, subscriber: Subscriber) -> bool:
        """Whether a subscription reads its streams before their events are final: all of them have their events at
        arrival, and one of them may withdraw some."""
        form = subscriber.form
        if self.restoring is not None:
            return subscriber.name in self.restoring
        plan = subscriber.machine
        if plan is None or not plan.revises or form.forecast is not None or subscriber.results == "final":
            return False
        streams = [stream for stream, _ in form.sources]
        early = [self._early(stream) for stream in streams]
        declared = [stream in self.catalog.streams for stream in streams]
        return any(early) and all(one or other for one, other in zip(early, declared))

    def _early(self, stream: str) -> bool:
        """Whether all events of a stream come before they are final."""
        declared = self.catalog.streams.get(stream)
        if declared is not None:
            return declared.disorder == "speculate"
        published = self.catalog.published.get(stream)
        made = len([reader for reader in self.readers.by_name.values() if reader.publish == stream])
        return published is not None and made == published.publishers > 0

    def check(self, subscriber: Subscriber, revises: bool) -> None:
        """Raise DefinitionError if a stream that is read before its events are final would get events in order."""
        stream = subscriber.form.publish
        if not revises and stream is not None and stream in self.readers.readers:
            other = self.readers.readers[stream][0][0].subscriber.name
            raise DefinitionError(
                f"subscription {subscriber.name!r}: cannot publish {stream!r}, which {other!r} reads before results"
                f" are final: these would come when they are; give one of the two another stream"
            )

    def arrange(self) -> None:
        """Start and end second automata, after subscriptions have come or gone. O(subscriptions that revise)."""
        wanted: list[RevisingReader] = []
        for reader in reversed(self.readers.ranked()):
            if reader.publish is not None and self._readers_in_order(reader.publish, wanted) > 0:
                wanted.append(reader)
        names = {reader.subscriber.name for reader in wanted}
        for name in [name for name in self.feeds if name not in names]:
            self.program.machines.leave(name_of_copy(name), None, self.feeds.pop(name))
        for reader in reversed(wanted):
            self._start(reader)

    def _readers_in_order(self, stream: str, copies: list[RevisingReader]) -> int:
        published = self.catalog.published.get(stream)
        readers = 0 if published is None else published.readers
        readers -= len(self.readers.readers.get(stream, ()))
        return readers + len([reader for reader in copies if stream in reader.streams])

    def _start(self, reader: RevisingReader) -> None:
        """Let the automaton of a subscription run a second time, with its runs and arcs as they are. O(state)."""
        subscriber, machines = reader.subscriber, self.program.machines
        name, copy = subscriber.name, name_of_copy(subscriber.name)
        if name in self.feeds or reader.publish is None:
            return
        restoring = machines.restoring
        if reader.suspended != NOT_SUSPENDED or (restoring is not None and copy not in restoring.places):
            return  # it finds nothing any more
        plan = subscriber.machine
        assert plan is not None
        number, place = self.program.directory.stream(reader.publish), (reader.publish, name)
        feed = self.feeds[name] = Feed(number, ALWAYS_SINCE, place, reader.salt)
        safe = self.marks.safe(reader.streams[0])
        begun = restoring is None and safe > NOTHING_PROMISED
        kept = reader.group.reviser.settled(reader.place, safe) if begun else None
        machines.join(copy, plan, None, feed, kept)
        if subscriber.updates:
            machines.rewrite(copy, plan, ChangedArcs(subscriber.revised(), -FOREVER, FOREVER))
