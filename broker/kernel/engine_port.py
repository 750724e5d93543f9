"""The interface that the kernel needs of an engine, and nothing more, so that a test can use a small one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..automaton.diagram import Graph
from ..engine.disorder.looking import HeldStream
from ..engine.inspection.sharing import MachinesSeen
from ..engine.inspection.waiting import RunsSeen
from ..events import Disorder, ForetellError, StreamDefinition, TimeUnit
from ..language.subscription import SubscriptionDefinition


class EngineResult(Protocol):
    """One result of the engine; `line()` returns it as a dictionary of plain values."""

    @property
    def subscription(self) -> str: ...

    @property
    def withdrawn(self) -> bool:
        """Whether it withdraws an earlier result."""
        ...

    def line(self) -> dict[str, Any]: ...


class EngineAnswer(Protocol):
    """The engine's answer to a question; `line()` returns it as a dictionary of plain values."""

    def line(self) -> dict[str, Any]: ...


class EnginePort(Protocol):
    """An engine. It refuses a call with a ForetellError, and is then unchanged.

    Iterating over results may make them. The kernel never asks for their number with `len`, which may be too large.
    """

    @property
    def streams(self) -> Mapping[str, StreamDefinition]: ...

    @property
    def subscriptions(self) -> Mapping[str, SubscriptionDefinition]: ...

    @property
    def now(self) -> int | None: ...

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: Disorder = "arrival",
        lateness: int | None = None,
        speculation: int | None = None,
        idle: int | None = None,
        time_unit: TimeUnit | None = None,
        sequence: str | None = None,
    ) -> Any: ...

    def add_attribute(self, stream: str, name: str, type: str) -> None:
        """Add an attribute that may be null to a stream."""
        ...

    def remove_stream(self, name: str) -> Iterable[EngineResult]:
        """Remove a stream that no subscription reads; the results of those that waited for it."""
        ...

    def subscribe(
        self,
        name: str,
        *,
        language: str,
        query: str,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: dict[str, Any] | None = None,
        results: str | None = None,
    ) -> Any: ...

    def unsubscribe(self, name: str) -> Any: ...

    def replace(self, name: str, query: str, language: str, keep_runs: bool) -> Iterable[EngineResult]:
        """Give a subscription another text; it begins anew, or keeps its runs."""
        ...

    def publish(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Iterable[EngineResult]: ...

    def check(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        """Raise the error that `publish` would raise. If there is none, the batch can be published in any pieces."""
        ...

    def faults(
        self, stream: str, times: Sequence[int], rows: Sequence[tuple[Any, ...]], ids: Sequence[int]
    ) -> Iterable[tuple[int, type[ForetellError], str]]:
        """The events of a batch of a stream with disorder that are refused alone: index, error, reason."""
        ...

    def accepts_from(self, stream: str) -> int | None:
        """The time before which an event of a stream is late; None: no event is late."""
        ...

    @property
    def dues(self) -> Sequence[tuple[Sequence[str] | None, int]]:
        """The streams whose punctuation behind a moment reports results that wait for time to pass, with that moment,
        where something waits; None: all streams."""
        ...

    def punctuate(self, time: int, stream: str | None = None, where: str | None = None) -> Iterable[EngineResult]:
        """Take the promise that no event before `time` follows, on a stream or on any."""
        ...

    def declare_gap(self, stream: str, first: int, last: int | None = None) -> Iterable[EngineResult]:
        """Take the promise that the events of a stream with these sequence numbers do not come."""
        ...

    def stream_of(self, id: int) -> str | None:
        """The stream of an event that can still be withdrawn; None: there is no such event."""
        ...

    def retract(self, id: int) -> Iterable[EngineResult]:
        """Withdraw an event."""
        ...

    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | None = None,
        end: int | None = None,
    ) -> Iterable[EngineResult]:
        """Change the arcs of a subscription."""
        ...

    def updates(self, name: str) -> Sequence[tuple[tuple[str, ...], tuple[str, ...], int, int]]:
        """The updates of a subscription: inserted arcs, names of deleted ones, times from and to which they hold."""
        ...

    def reset_time(self, stream: str, time: int | None) -> Sequence[Iterable[EngineResult]]:
        """Set `now` back to a time, and begin all subscriptions that read the stream anew; their last results."""
        ...

    def says(self, name: str, query: str) -> bool:
        """Whether a text says what a subscription does since its arcs were updated."""
        ...

    def warnings(self, query: str, language: str, alike: set[Any] | None = None) -> list[str]:
        """What is right in a text, but probably not meant; each with its place. `alike`: not of a text like these."""
        ...

    def warnings_of_streams(self, name: str, stamped: Collection[str]) -> list[str]:
        """Streams that keep a subscription from telling what waits for time, of those whose publishers give times."""
        ...

    def held_back(self, name: str | None = None) -> list[HeldStream]:
        """The streams that others wait for; `name`: that which a subscription waits for."""
        ...

    def probability(self, name: str, key: Sequence[Any], within: int | str | None = None) -> EngineAnswer:
        """The probability of the next match of a key. It changes nothing."""
        ...

    def partial_matches(self, name: str, most: int = 1_000) -> list[dict[str, list[int]]]:
        """Partial matches of a subscription: ids of events by operand. Raises Unsupported if none are kept."""
        ...

    def languages(self, names: Sequence[str]) -> list[str]:
        """The language of each of these subscriptions, "" for one that there is not."""
        ...

    def waiting_runs(self, name: str, most: int = 1_000, listed: int = 50) -> RunsSeen:
        """The oldest partial matches of a subscription, and how many wait in each state, from a bounded look."""
        ...

    def machines(self, most: int = 30, looked: int = 20_000) -> MachinesSeen:
        """The machines that run most subscriptions, of so many that are looked at."""
        ...

    def company(self, name: str) -> int:
        """How many subscriptions the machine of one runs, or parts of them; 0 if it has none."""
        ...

    def sharing(self, name: str) -> list[str]:
        """How one subscription runs now, and what it shares, one line each."""
        ...

    def forecast_quality(self, name: str) -> dict[str, Any] | None:
        """What became of a subscription's forecasts; None if it asks for none."""
        ...

    def explain(self) -> list[str]:
        """The compiled form of the subscriptions, one line each."""
        ...

    def live(self) -> list[str]:
        """How much each part of it holds now, one line each."""
        ...

    def diagram(self) -> Graph:
        """The merged automata, as data for a diagram."""
        ...

    @property
    def failures(self) -> list[Any]:
        """Subscriptions suspended by a mistake of the engine: names, references, exceptions. The caller empties it."""
        ...

    def statistics(self) -> Mapping[str, Any]: ...
