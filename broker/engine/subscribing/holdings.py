"""What an engine keeps for its names: the parts of the program that a subscription holds, and streams of results.

Here: these records, definitions by name, and the order in which several subscriptions may be made. Not here: who enters
and leaves (catalog).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from ...events.errors import DefinitionError
from ...events.schema import Schema
from ...language.subscription import SubscriptionDefinition
from ..compiler.query_compiler import Parsed
from ..program.target import Feed
from .subscriber import Subscriber


@final
@dataclass(slots=True)
class Holding:
    """The parts of the program that one subscription holds beside its machines; most hold none.

    These are the ends in the merged program, by branch, the internal streams that it reads, inner ones first, and the
    stream that it publishes.
    """

    ends: dict[int, object] = field(default_factory=dict)
    internal: list[str] = field(default_factory=list)
    feed: Feed | None = None


@final
@dataclass(slots=True)
class PublishedStream:
    """A stream made of results. It lives while a subscription publishes or reads it.

    `sources`: the streams that it is made of, each with the number of times that publishers read it.
    """

    schema: Schema
    publishers: int = 0
    readers: int = 0
    sources: dict[str, int] = field(default_factory=dict)


@final
@dataclass(slots=True)
class InternalStream:
    """The stream of a right operand, shared by subscriptions of the same moment.

    `ends`: by name of an automaton that feeds it, its end in the merged program; None if it has a machine of that name.
    """

    users: int
    feed: Feed
    ends: dict[str, object | None]


@final
class Definitions(Mapping[str, SubscriptionDefinition]):
    """Definitions by name, each made on access."""

    def __init__(self, subscriptions: Mapping[str, Subscriber]) -> None:
        self._subscriptions = subscriptions

    def __getitem__(self, name: str) -> SubscriptionDefinition:
        return self._subscriptions[name].definition()

    def __contains__(self, name: object) -> bool:
        return name in self._subscriptions

    def __iter__(self) -> Iterator[str]:
        return iter(self._subscriptions)

    def __len__(self) -> int:
        return len(self._subscriptions)


def in_order(parsed: list[Parsed]) -> list[Parsed]:
    """Publishers before their readers, otherwise in the order given. Raises DefinitionError for a circle."""
    publishers: dict[str, int] = {}
    for p in parsed:
        if p.publish is not None:
            publishers[p.publish] = publishers.get(p.publish, 0) + 1
    ordered: list[Parsed] = []
    waiting = parsed
    while waiting:
        ready = [p for p in waiting if not any(publishers.get(stream) for stream in p.reads())]
        if not ready:
            names = ", ".join(repr(p.definition.name) for p in waiting[:5])
            raise DefinitionError(f"subscriptions read each other's results in a circle: {names}")
        done = {p.definition.name for p in ready}
        for p in ready:
            if p.publish is not None:
                publishers[p.publish] -= 1
        ordered.extend(ready)
        waiting = [p for p in waiting if p.definition.name not in done]
    return ordered
