"""Which streams a subscription reads and feeds, directly and through other subscriptions, now and before.

A subscription over a published stream reads also what that is made of, however many subscriptions lie between. It keeps
what it has read: matches that have begun, results in a cursor. So whatever has flowed into a subscription counts as
long as the subscription is there, also when the one that fed it has gone. This is part of the state that comes back
after a crash: it depends on the subscriptions that came and went, and on nothing else.

A text is asked for what it reads before it is typed: an error about an attribute would already say something of a
stream that must not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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

Wires: TypeAlias = Callable[[str], Flow]
"""The flow of a subscription that the engine has, by its name."""


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


def wires(engine: Catalogued) -> Wires:
    """What the subscriptions of this engine read and feed. No text is read for it."""

    def flow(name: str) -> Flow:
        form = engine.catalog.subscriptions[name].form
        return Flow(tuple(dict.fromkeys([stream for stream, _ in form.sources])), form.publish)

    return flow


@final
class Sources:
    """The flows between subscriptions, kept in step with an engine's by `add` and `remove`.

    Only those that publish, or read what others publish, take room here.
    """

    __slots__ = ("_feeding", "_flows", "_once", "_past", "_readers", "_wires")

    def __init__(self, wires: Wires, known: Iterable[str] = ()) -> None:
        """`known`: the names of the subscriptions that the engine has already."""
        self._wires = wires
        self._flows: dict[str, Flow] = {}
        self._feeding: dict[str, dict[str, int]] = {}  # what flows into a published stream, and on how many ways
        self._readers: dict[str, dict[str, None]] = {}  # who reads a published stream
        self._once: dict[str, frozenset[str]] = {}  # what has flowed into a subscription, and may not any more
        self._past: dict[str, dict[str, int]] = {}  # the same of those that publish a stream, counted
        self._know(known)

    def of(self, name: str) -> Flow:
        """The flow of a subscription that the engine has."""
        return self._wires(name)

    def add(self, name: str) -> None:
        """The engine has the subscription from now on."""
        flow = self._wires(name)
        if flow.publishes is not None:
            _count(self._feeding.setdefault(flow.publishes, {}), flow.reads, 1)
        self._enter(name, flow)

    def remove(self, name: str) -> None:
        """The engine has it no more. O(what it was made of, and those that it fed)."""
        flow = self._flows.pop(name, None)
        if flow is None:
            return
        for stream in flow.reads:
            readers = self._readers.get(stream, {})
            readers.pop(name, None)
            if not readers:
                self._readers.pop(stream, None)
        once = self._once.pop(name, frozenset())
        published = flow.publishes
        if published is None:
            return
        lost = once.union(self.upstream(flow.reads))
        self._uncount(self._feeding, published, flow.reads)
        self._uncount(self._past, published, once)
        for reader in self.downstream(published):
            self._remember(reader, lost)

    def upstream(self, streams: Iterable[str]) -> tuple[str, ...]:
        """These streams, and all that flows into them or is kept in what does. O(what is found)."""
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
        """What flows into a subscription that the engine has, or did since it came. O(what is found)."""
        now = self.upstream(self._wires(name).reads)
        once = self._once.get(name)
        return now if once is None else tuple(dict.fromkeys((*now, *sorted(once))))

    def downstream(self, stream: str) -> tuple[str, ...]:
        """The subscriptions that read a stream, or what is made of it. O(what is found)."""
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
        """Plain values that `restore` takes: what the engine's subscriptions do not say of themselves."""
        return [[name, sorted(once)] for name, once in sorted(self._once.items())]

    def restore(self, plain: Sequence[Any], known: Iterable[str]) -> None:
        """Take the place of what has said this of itself, beside an engine that has these subscriptions."""
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
        # A reader may be older than one of those that feed it: all that is published comes first.
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
        """All that has flowed into this one."""
        before = self._once.get(name, frozenset())
        self._once[name] = before | lost
        published = self._flows[name].publishes
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
