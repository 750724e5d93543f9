"""An engine small enough to be obviously right, for tests of what stands around an engine.

It knows two queries: `every STREAM` finds each event of a stream, `after NAME` finds nothing but reads the subscription
NAME, which therefore cannot go before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from broker.events import (
    DefinitionError,
    Disorder,
    QueryError,
    Schema,
    StreamDefinition,
    UnknownStream,
    UnknownSubscription,
    check_rows,
    check_starts,
    check_times,
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

    def line(self) -> dict[str, Any]:
        return {
            "kind": "match",
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
        self.taken: list[int] = []
        self.failures: list[Any] = []

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: Disorder = "arrival",
        lateness: int | None = None,
        speculation: int | None = None,
        idle: int | None = None,
    ) -> None:
        schema = Schema.declare(attributes)
        self.streams[name] = StreamDefinition(name, schema, key, disorder, lateness, speculation, idle)

    def subscribe(
        self,
        name: str,
        *,
        language: str,
        query: str,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: dict[str, Any] | None = None,
    ) -> None:
        definition = SubscriptionDefinition(name, language, query, lineage, report, forecast)
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
        check_times(definition, times, self.now)
        if starts is not None:
            check_starts(definition, starts, times)
        return check_rows(definition, rows)

    def probability(self, name: str, key: Sequence[Any], within: int | str | None = None) -> SmallAnswer:
        if name not in self.subscriptions:
            raise UnknownSubscription(f"subscription {name!r} has no forecasts")
        return SmallAnswer({"probability": 0.5, "key": list(key), "within": within})

    def reset_time(self, stream: str, time: int | None) -> list[list[SmallResult]]:
        assert stream in self.streams
        self.now = time
        return []

    def statistics(self) -> dict[str, Any]:
        return {"events": len(self.taken), "by_kind": {"every": 0.5}}
