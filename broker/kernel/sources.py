"""Law: which streams a subscription reads and feeds, by its text alone, and what flows into them through others.

A subscription over a published stream reads also what that is made of, however many subscriptions lie between. So this
has to know all subscriptions of the broker, and it is asked before a text is typed: an error about an attribute would
already say something of a stream that must not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, final

from ..language.subscription import SubscriptionDefinition


@final
@dataclass(frozen=True, slots=True)
class Flow:
    """What one subscription reads, in the order of its text, and the stream that it publishes, if it does."""

    reads: tuple[str, ...]
    publishes: str | None = None


Flows: TypeAlias = Callable[[SubscriptionDefinition], Flow]
"""How a text is read. Raises what the engine would raise for a text that cannot be read."""


class Catalogued(Protocol):
    """An engine that can read a text without subscribing to it, and whose subscriptions can be looked up."""

    @property
    def catalog(self) -> Any: ...


def states(engine: Catalogued) -> Callable[[str], int]:
    """How many states the automata of a subscription of this engine have."""

    def of(name: str) -> int:
        number: int = engine.catalog.subscriptions[name].form.states
        return number

    return of


def flows(engine: Catalogued) -> Flows:
    """How this engine reads texts; it keeps what it has read for when the subscription comes."""

    def flow(definition: SubscriptionDefinition) -> Flow:
        # What a forecast may be says nothing of streams.
        parsed = engine.catalog.parse(replace(definition, forecast=None))
        return Flow(tuple(dict.fromkeys(parsed.reads())), parsed.publish)

    return flow


@final
class Sources:
    """The flows of all subscriptions by name."""

    __slots__ = ("_feeding", "_flows", "_read")

    def __init__(self, read: Flows, known: Iterable[SubscriptionDefinition] = ()) -> None:
        self._read = read
        self._flows: dict[str, Flow] = {}
        self._feeding: dict[str, dict[str, int]] = {}  # what flows into a published stream, and on how many ways
        for definition in known:
            self.add(definition.name, self.read(definition))

    def read(self, definition: SubscriptionDefinition) -> Flow:
        """The flow of a text. Raises QueryError, Unsupported, DefinitionError."""
        return self._read(definition)

    def of(self, name: str) -> Flow:
        """The flow of a subscription that was added."""
        return self._flows[name]

    def add(self, name: str, flow: Flow) -> None:
        """The engine has the subscription from now on."""
        self._flows[name] = flow
        if flow.publishes is not None:
            feeding = self._feeding.setdefault(flow.publishes, {})
            for stream in flow.reads:
                feeding[stream] = feeding.get(stream, 0) + 1

    def remove(self, name: str) -> None:
        """The engine has it no more."""
        flow = self._flows.pop(name)
        if flow.publishes is None:
            return
        feeding = self._feeding[flow.publishes]
        for stream in flow.reads:
            feeding[stream] -= 1
            if not feeding[stream]:
                del feeding[stream]
        if not feeding:
            del self._feeding[flow.publishes]

    def upstream(self, streams: Iterable[str]) -> tuple[str, ...]:
        """These streams, and all that flows into them. O(what is found)."""
        found: dict[str, None] = {}
        waiting = list(streams)
        while waiting:
            stream = waiting.pop()
            if stream not in found:
                found[stream] = None
                waiting.extend(self._feeding.get(stream, ()))
        return tuple(found)

    def published(self) -> Iterable[str]:
        """The streams that subscriptions publish."""
        return self._feeding

    def check_invariants(self) -> None:
        """For tests."""
        again = Sources(self._read)
        for name, flow in self._flows.items():
            again.add(name, flow)
        assert again._feeding == self._feeding
