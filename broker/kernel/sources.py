"""Tracks which streams flow into a subscription and out of it, directly or through others, now and earlier.

A subscription that reads a published stream also reads the inputs of that stream, through any number of subscriptions.
It keeps values that it has read, in partial matches and in cursors. So every stream that has flowed into a subscription
counts as long as the subscription exists, even if the one that fed it is gone. This history is part of the state that
is restored after a crash: it depends only on the subscriptions that were added and removed.

The streams of a query are determined before it is typed, because an error about an attribute would already reveal
something about a stream that the user must not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

from ..language.subscription import SubscriptionDefinition

if TYPE_CHECKING:
    from ..engine import Engine


@final
@dataclass(frozen=True, slots=True)
class Flow:
    """The streams that a subscription reads, in the order of its text, and the stream that it publishes, or None."""

    reads: tuple[str, ...]
    publishes: str | None = None


Flows: TypeAlias = Callable[[SubscriptionDefinition], Flow]
"""Determines the flow of a definition. Raises the engine's error for a text that cannot be parsed."""

Wires: TypeAlias = Callable[[str], Flow]
"""Returns the flow of a subscription of the engine, by name."""


def states(engine: Engine) -> Callable[[str], int]:
    """A function from a subscription of this engine to the number of its automaton's states."""

    def of(name: str) -> int:
        number: int = engine.catalog.subscriptions[name].form.states
        return number

    return of


def flows(engine: Engine) -> Flows:
    """The flows of definitions by this engine's parser, whose cache the following subscription uses."""

    def flow(definition: SubscriptionDefinition) -> Flow:
        # Forecast options do not affect which streams are read.
        parsed = engine.catalog.parse(replace(definition, forecast=None))
        return Flow(tuple(dict.fromkeys(parsed.reads())), parsed.publish)

    return flow


def wires(engine: Engine) -> Wires:
    """The flows of this engine's subscriptions, from their compiled forms, without parsing."""

    def flow(name: str) -> Flow:
        form = engine.catalog.subscriptions[name].form
        return Flow(tuple(dict.fromkeys([stream for stream, _ in form.sources])), form.publish)

    return flow


@final
class Sources:
    """The flows between subscriptions. `add` and `remove` keep them equal to the engine's.

    Only subscriptions that publish a stream, or read a published one, take memory here.
    """

    __slots__ = ("_feeding", "_flows", "_once", "_past", "_readers", "_wires")

    def __init__(self, wires: Wires, known: Iterable[str] = ()) -> None:
        """`known`: the names of the engine's present subscriptions."""
        self._wires = wires
        self._flows: dict[str, Flow] = {}
        self._feeding: dict[str, dict[str, int]] = {}  # the inputs of a published stream, with the number of paths
        self._readers: dict[str, dict[str, None]] = {}  # the readers of a published stream
        self._once: dict[str, frozenset[str]] = {}  # earlier inputs of a subscription
        self._past: dict[str, dict[str, int]] = {}  # the same for published streams, counted
        self._know(known)

    def of(self, name: str) -> Flow:
        """The flow of a subscription of the engine."""
        return self._wires(name)

    def add(self, name: str) -> None:
        """Note a subscription that the engine has added."""
        flow = self._wires(name)
        if flow.publishes is not None:
            _count(self._feeding.setdefault(flow.publishes, {}), flow.reads, 1)
        self._enter(name, flow)

    def remove(self, name: str) -> None:
        """Note a subscription that the engine has removed. O(its inputs and the subscriptions that it fed)."""
        once = self._once.pop(name, frozenset())
        flow = self._flows.pop(name, None)
        if flow is None:
            return
        for stream in flow.reads:
            readers = self._readers.get(stream, {})
            readers.pop(name, None)
            if not readers:
                self._readers.pop(stream, None)
        published = flow.publishes
        if published is None:
            return
        lost = once.union(self.upstream(flow.reads))
        self._uncount(self._feeding, published, flow.reads)
        self._uncount(self._past, published, once)
        for reader in self.downstream(published):
            self._remember(reader, lost)

    def replace(self, name: str, before: Flow) -> None:
        """Note a subscription whose text the engine has replaced; what flowed into it `before` still counts, since its
        cursors and readers have it. O(its inputs and the subscriptions that it fed)."""
        lost = self._once.get(name, frozenset()).union(self.upstream(before.reads))
        self.remove(name)
        self.add(name)
        self._remember(name, lost)

    def upstream(self, streams: Iterable[str]) -> tuple[str, ...]:
        """These streams and all their present and earlier inputs, direct or not. O(streams found)."""
        found: dict[str, None] = {}
        past: dict[str, None] = {}
        waiting = list(streams)
        while waiting:
            stream = waiting.pop()
            if stream not in found:
                found[stream] = None
                waiting.extend(self._feeding.get(stream, ()))
                past.update(dict.fromkeys(self._past.get(stream, ())))
        return tuple(found | past)

    def into(self, name: str) -> tuple[str, ...]:
        """All streams that flow into a subscription, or did since it was added. O(streams found)."""
        now = self.upstream(self._wires(name).reads)
        once = self._once.get(name)
        return now if once is None else tuple(dict.fromkeys((*now, *sorted(once))))

    def downstream(self, stream: str) -> tuple[str, ...]:
        """The subscriptions that read a stream, directly or through others. O(subscriptions found)."""
        found: dict[str, None] = {}
        waiting = [stream]
        while waiting:
            for name in self._readers.get(waiting.pop(), ()):
                if name not in found:
                    found[name] = None
                    published = self._flows[name].publishes
                    if published is not None:
                        waiting.append(published)
        return tuple(found)

    def published(self) -> Iterable[str]:
        """The streams that subscriptions publish."""
        return self._feeding

    # ---- the whole ----

    def save(self) -> list[Any]:
        """Plain values that `restore` takes: the earlier inputs, which the engine's subscriptions do not contain."""
        return [[name, sorted(once)] for name, once in sorted(self._once.items())]

    def restore(self, plain: Sequence[Any], known: Iterable[str]) -> None:
        """Replace the state by the one that `save` described, for an engine with these subscriptions."""
        for each in (self._flows, self._feeding, self._readers, self._once, self._past):
            each.clear()
        self._know(known)
        for name, once in plain:
            self._remember(name, frozenset(once))

    def check_invariants(self, known: Iterable[str]) -> None:
        """For tests; `known`: the names of the engine's subscriptions."""
        again = Sources(self._wires)
        again.restore(self.save(), known)
        for name in self.__slots__:
            assert getattr(again, name) == getattr(self, name), name

    def _know(self, names: Iterable[str]) -> None:
        # Published streams first, because a reader may be older than a subscription that feeds it.
        every = [(name, self._wires(name)) for name in names]
        for _, flow in every:
            if flow.publishes is not None:
                _count(self._feeding.setdefault(flow.publishes, {}), flow.reads, 1)
        for name, flow in every:
            self._enter(name, flow)

    def _enter(self, name: str, flow: Flow) -> None:
        reads = [stream for stream in flow.reads if stream in self._feeding]
        if reads or flow.publishes is not None:
            self._flows[name] = flow
        for stream in reads:
            self._readers.setdefault(stream, {})[name] = None

    def _remember(self, name: str, lost: frozenset[str]) -> None:
        """Add to the earlier inputs of a subscription."""
        before = self._once.get(name, frozenset())
        self._once[name] = before | lost
        published = self._flows[name].publishes if name in self._flows else None
        if published is not None:
            _count(self._past.setdefault(published, {}), lost - before, 1)

    def _uncount(self, counts: dict[str, dict[str, int]], published: str, streams: Iterable[str]) -> None:
        of = counts.get(published)
        if of is not None:
            _count(of, streams, -1)
            if not of:
                del counts[published]


def _count(counts: dict[str, int], streams: Iterable[str], by: int) -> None:
    for stream in streams:
        counts[stream] = counts.get(stream, 0) + by
        if not counts[stream]:
            del counts[stream]
