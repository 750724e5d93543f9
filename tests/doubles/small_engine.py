"""An engine small enough to be obviously right, for tests of what stands around an engine.

It takes and withdraws events in any order that is allowed by promises, and reports nothing that waits for time to pass.
It knows two queries: `every STREAM` finds each event of a stream, `after NAME` finds nothing but reads the subscription
NAME, which therefore cannot go before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from broker.automaton.diagram import Graph
from broker.engine.disorder.looking import HeldStream
from broker.engine.inspection.sharing import MachinesSeen
from broker.engine.inspection.waiting import RunsSeen
from broker.events import (
    DefinitionError,
    Disorder,
    DuplicateEvent,
    EventError,
    ForetellError,
    LateEvent,
    QueryError,
    Schema,
    StreamDefinition,
    TimeUnit,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
    check_rows,
    check_starts,
    check_times,
    unknown_event,
)
from broker.language.subscription import SubscriptionDefinition


@final
@dataclass(frozen=True, slots=True)
class SmallResult:
    """An event, found."""

    subscription: str
    event: int
    end: int
    data: dict[str, Any]
    kind: str = "match"

    @property
    def withdrawn(self) -> bool:
        return self.kind == "retraction"

    def line(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "subscription": self.subscription,
            "id": f"{self.subscription}-{self.event}",
            "start": self.end,
            "end": self.end,
            "lineage": [self.event],
            "data": self.data,
        }


@final
@dataclass(frozen=True, slots=True)
class SmallAnswer:
    """A probability, the same for all."""

    report: dict[str, Any]

    def line(self) -> dict[str, Any]:
        return self.report


@final
class SmallEngine:
    """Fulfils broker.kernel.Matcher."""

    def __init__(self) -> None:
        self.streams: dict[str, StreamDefinition] = {}
        self.subscriptions: dict[str, SubscriptionDefinition] = {}
        self.now: int | None = None
        self.promised: int | None = None
        self.due: int | None = None  # a test says what waits for time to pass
        self.orders: list[tuple[list[str], int]] = []  # or what waits in some streams only
        self.gaps: list[tuple[str, int, int | None]] = []
        self.punctuated: list[tuple[int, str | None, str | None]] = []
        self.updated: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], int, int]]] = {}
        self.taken: list[int] = []
        self.of: dict[int, str] = {}  # the stream of each event that is not withdrawn
        self.failures: list[Any] = []
        self.warned: list[str] = []  # a test says what is warned of
        self.held: list[HeldStream] = []  # and which streams hold others back

    def says(self, name: str, query: str) -> bool:
        return False

    @property
    def dues(self) -> list[tuple[list[str] | None, int]]:
        return [*self.orders, *([] if self.due is None else [(None, self.due)])]

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
    ) -> None:
        schema = Schema.declare(attributes)
        order = disorder, lateness, speculation, idle, time_unit
        self.streams[name] = StreamDefinition(name, schema, key, *order, sequence=sequence)

    def add_attribute(self, stream: str, name: str, type: str) -> None:
        if stream not in self.streams:
            raise UnknownStream(f"{stream!r} is not known")
        self.streams[stream] = self.streams[stream].with_attribute(name, type)

    def remove_stream(self, name: str) -> list[SmallResult]:
        if name not in self.streams:
            raise UnknownStream(f"{name!r} is not known")
        if any(each.query == f"every {name}" for each in self.subscriptions.values()):
            raise DefinitionError(f"stream {name!r} is read")
        del self.streams[name]
        return []

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
    ) -> None:
        definition = SubscriptionDefinition(name, language, query, lineage, report, forecast, results)
        if name in self.subscriptions:
            raise DefinitionError(f"subscription {name!r} exists")
        word, _, what = query.partition(" ")
        if word not in ("every", "after"):
            raise QueryError(f"line 1, column 1: expected every or after, found {word!r}", 1, 1, f"{query}\n^")
        if what not in (self.streams if word == "every" else self.subscriptions):
            raise UnknownStream(f"{what!r} is not known")
        self.subscriptions[name] = definition

    def unsubscribe(self, name: str) -> None:
        if name not in self.subscriptions:
            raise UnknownSubscription(f"subscription {name!r} is not known")
        if any(each.query == f"after {name}" for each in self.subscriptions.values()):
            raise DefinitionError(f"subscription {name!r} is read by others")
        del self.subscriptions[name]

    def replace(self, name: str, query: str, language: str, keep_runs: bool) -> list[SmallResult]:
        before = self.subscriptions[name]
        if keep_runs and before.query != query:
            raise Unsupported(f"subscription {name!r}: it can only begin anew")
        del self.subscriptions[name]
        try:
            self.subscribe(name, language=language, query=query)
        except ForetellError:
            self.subscriptions[name] = before
            raise
        return []

    def publish(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> list[SmallResult]:
        assert ids is not None
        definition = self.streams[stream]
        rows = self._fitting(stream, times, rows, ids, starts)
        self.now = times[-1] if times else self.now
        self.taken.extend(ids)
        self.of.update(dict.fromkeys(ids, stream))
        return [
            SmallResult(each.name, event, time, dict(zip(definition.schema.names, row)))
            for event, time, row in zip(ids, times, rows)
            for each in self.subscriptions.values()
            if each.query == f"every {stream}"
        ]

    def check(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        self._fitting(stream, times, rows, ids, starts)

    def _fitting(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None,
        starts: Sequence[int] | None,
    ) -> Sequence[tuple[Any, ...]]:
        definition = self.streams[stream]
        assert ids is not None
        assert len(times) == len(rows) == len(ids)
        check_times(definition, times, self.accepts_from(stream))
        if starts is not None:
            check_starts(definition, starts, times)
        return check_rows(definition, rows)

    def faults(
        self, stream: str, times: Sequence[int], rows: Sequence[tuple[Any, ...]], ids: Sequence[int]
    ) -> list[tuple[int, type[ForetellError], str]]:
        floor, known = self.accepts_from(stream), set(self.of)
        found: list[tuple[int, type[ForetellError], str]] = []
        for index, (time, number) in enumerate(zip(times, ids)):
            if floor is not None and time < floor:
                found.append((index, LateEvent, f"expected a time of {floor} or later, found {time}"))
            elif number in known:
                found.append((index, DuplicateEvent, f"expected another id, found {number} again"))
            known.add(number)
        return found

    def accepts_from(self, stream: str) -> int | None:
        known = [each for each in (self.now, self.promised) if each is not None]
        return max(known, default=None)

    def punctuate(self, time: int, stream: str | None = None, where: str | None = None) -> list[SmallResult]:
        """What waits is a result of each subscription."""
        before = self.accepts_from("")
        if before is not None and time < before:
            raise LateEvent(f"expected a punctuation at {before} or later, found {time}")
        self.promised = time
        self.punctuated.append((time, stream, where))
        due, self.due = self.due, None if self.due is not None and self.due < time else self.due
        return [SmallResult(name, time, time, {}) for name in self.subscriptions if due != self.due]

    def declare_gap(self, stream: str, first: int, last: int | None = None) -> list[SmallResult]:
        if first in self.of:
            raise EventError(f"expected a gap, found {first}")
        self.gaps.append((stream, first, last))
        return []

    def stream_of(self, id: int) -> str | None:
        return self.of.get(id)

    def retract(self, id: int) -> list[SmallResult]:
        stream = self.of.pop(id, None)
        if stream is None:
            raise unknown_event(id)
        return [
            SmallResult(each.name, id, 0, {}, "retraction")
            for each in self.subscriptions.values()
            if each.query == f"every {stream}"
        ]

    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | None = None,
        end: int | None = None,
    ) -> list[SmallResult]:
        if "wrong" in insert:
            raise QueryError("line 1, column 1: expected an arc, found 'wrong'", 1, 1, "wrong\n^")
        self.updated.setdefault(name, []).append((tuple(insert), tuple(delete), start or 0, end or 2**63 - 1))
        return [SmallResult(name, 0, 0, {})]

    def updates(self, name: str) -> list[tuple[tuple[str, ...], tuple[str, ...], int, int]]:
        return self.updated.get(name, [])

    def warnings(self, query: str, language: str, alike: set[Any] | None = None) -> list[str]:
        if alike is not None:
            known = len(alike)
            alike.add(query)
            return self.warned if len(alike) > known else []
        return self.warned

    def warnings_of_streams(self, name: str, stamped: Collection[str]) -> list[str]:
        return [f"absence in {stream}" for stream in stamped if name == "absent"]

    def held_back(self, name: str | None = None) -> list[HeldStream]:
        return self.held

    def probability(self, name: str, key: Sequence[Any], within: int | str | None = None) -> SmallAnswer:
        if name not in self.subscriptions:
            raise UnknownSubscription(f"subscription {name!r} has no forecasts")
        return SmallAnswer({"probability": 0.5, "key": list(key), "within": within})

    def reset_time(self, stream: str, time: int | None) -> list[list[SmallResult]]:
        assert stream in self.streams
        self.now = time
        return []

    def partial_matches(self, name: str, most: int = 1_000) -> list[dict[str, list[int]]]:
        raise Unsupported(f"subscription {name!r}: there are none")

    def languages(self, names: Sequence[str]) -> list[str]:
        return [self.subscriptions[name].language if name in self.subscriptions else "" for name in names]

    def waiting_runs(self, name: str, most: int = 1_000, listed: int = 50) -> RunsSeen:
        return RunsSeen(unlisted=True)

    def machines(self, most: int = 30, looked: int = 20_000) -> MachinesSeen:
        return MachinesSeen([], 0, False)

    def company(self, name: str) -> int:
        return 0

    def sharing(self, name: str) -> list[str]:
        return ["alone"]

    def forecast_quality(self, name: str) -> dict[str, Any] | None:
        return None

    def explain(self) -> list[str]:
        return [each.query for each in self.subscriptions.values()]

    def live(self) -> list[str]:
        return [f"now: {len(self.taken)} events"]

    def diagram(self) -> Graph:
        return Graph("subscriptions", (), ())

    def statistics(self) -> dict[str, Any]:
        return {"events": len(self.taken), "by_kind": {"every": 0.5}}
