"""One result as a reader sees it: a view of what came, neither copied nor interpreted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, final

from broker.events import LimitExceeded, UnknownSubscription

from .expansion import paths


class Source(Protocol):
    """What a notification of a durable subscription asks of its client; the one for asyncio returns what is awaited."""

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> Any: ...

    def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> Any: ...


@final
class Notification:
    """A match, or whatever else `kind` says. A field that does not apply is None, and `line()` lacks it.

    `kind` "incomplete" is no result, but says that `limit` was hit. The broker's stands for `missed` results from the
    time `since` on, in their place; the engine's says that at `since` it forgot what could have become results. A match
    that is `incomplete` is a result; see there.
    """

    __slots__ = ("_line", "_source", "incarnation")

    def __init__(self, line: dict[str, Any], incarnation: int | None = None) -> None:
        self._line = line
        self._source: Source | None = None
        self.incarnation = incarnation
        """Of a durable subscription: which cursor of its name the position is of."""

    def of(self, source: Source) -> Notification:
        """Itself, as this client has received it."""
        self._source = source
        return self

    def acknowledge(self) -> Any:
        """Of a durable subscription: everything up to this one is done with. Of `client.aio`, to be awaited.

        Raises as `Client.acknowledge`, and UnknownSubscription where this is of no durable subscription.
        """
        source, position = self._durable()
        return source.acknowledge(self.subscription, position, self.incarnation)

    def refuse(self, reason: str) -> Any:
        """Of a durable subscription: this one cannot be done with. It is set aside among the cursor's dead letters, and
        not delivered again; those before it are still to be acknowledged. Of `client.aio`, to be awaited.

        Raises as `Client.refuse`, and UnknownSubscription where this is of no durable subscription.
        """
        source, position = self._durable()
        return source.refuse(self.subscription, reason, position, self.incarnation)

    def _durable(self) -> tuple[Source, int]:
        position = self.position
        if self._source is None or position is None:
            raise UnknownSubscription(f"subscription {self.subscription!r}: this is not one of a durable subscription")
        return self._source, position

    def line(self) -> dict[str, Any]:
        """The result exactly as the broker tells it, as the command line prints it."""
        return self._line

    @property
    def kind(self) -> str:
        """match, retraction, forecast, resolution, punctuation or incomplete."""
        kind: str = self._line["kind"]
        return kind

    @property
    def subscription(self) -> str:
        """The name of the subscription."""
        name: str = self._line["subscription"]
        return name

    @property
    def id(self) -> str | None:
        """The same for the same match, also after a restart or a replay."""
        return self._line.get("id")

    @property
    def position(self) -> int | None:
        """Of a durable subscription: which one it is, from 1 on; of an incomplete there, the last that is missing."""
        return self._line.get("position")

    @property
    def redelivered(self) -> bool:
        """Of a durable subscription: it may have come before, as it was not acknowledged."""
        redelivered: bool = self._line.get("redelivered", False)
        return redelivered

    @property
    def start(self) -> int | None:
        """When the first contributing event began, in microseconds."""
        return self._line.get("start")

    @property
    def end(self) -> int | None:
        """When the last contributing event ended, in microseconds."""
        return self._line.get("end")

    @property
    def time(self) -> int | None:
        """When that was which is no match, in microseconds."""
        return self._line.get("time")

    @property
    def data(self) -> dict[str, Any]:
        """The selected values by name."""
        data: dict[str, Any] = self._line.get("data", {})
        return data

    @property
    def lineage(self) -> list[int] | None:
        """The ids of the contributing events in pattern order."""
        return self._line.get("lineage")

    @property
    def bindings(self) -> dict[str, list[int]] | None:
        """Ids by variable or by the name of a primitive subscription, where the language has such."""
        return self._line.get("bindings")

    @property
    def tuples(self) -> int | None:
        """How many tuples of events, or compressed matches, a result stands for, of any size; `bindings` is one of
        them, and `expanded` makes the others."""
        return self._line.get("tuples")

    def expanded(self) -> Iterator[Notification]:
        """The matches that a compressed result stands for, made as they are asked for; of any other, itself.

        Each has start, end, lineage and bindings; `id` and `data` belong to the result. Raises LimitExceeded where the
        broker has told one match and the number of them only: where there are too many events in the window, where the
        subscription has no lineage, and for the completions of P-ToPSS.
        """
        graph = self._line.get("matches")
        if graph is None and self.tuples is not None and self.tuples > 1:
            raise LimitExceeded(f"{self.subscription}: of {self.tuples} matches the broker has told one and the number")
        return iter((self,)) if graph is None else self._each(graph)

    def _each(self, graph: dict[str, Any]) -> Iterator[Notification]:
        for events in paths(graph):
            bindings: dict[str, list[int]] = {}
            for name, ids, _ in events:
                bindings.setdefault(name, []).extend(ids)
            said = {"kind": self.kind, "subscription": self.subscription, "start": events[0][2], "end": self.end}
            lineage = [number for _, ids, _ in events for number in ids]
            yield Notification({**said, "lineage": lineage, "bindings": bindings})

    @property
    def incomplete(self) -> bool:
        """Of a match: a limit of the engine was hit, so that there may be tuples which are neither told nor counted."""
        incomplete: bool = self._line.get("incomplete", False)
        return incomplete

    @property
    def limit(self) -> str | None:
        """Of an incomplete: which limit was hit."""
        return self._line.get("limit")

    @property
    def since(self) -> int | None:
        """Of an incomplete of the broker: the time of the first result that is missing, in microseconds."""
        return self._line.get("since")

    @property
    def missed(self) -> int | None:
        """Of an incomplete of the broker: how many results are missing, of any size; None where nobody has counted."""
        return self._line.get("missed")

    @property
    def probability(self) -> float | None:
        """Of a forecast: how likely a match is within its horizon."""
        return self._line.get("probability")

    @property
    def calibrated(self) -> bool | None:
        """Of a forecast: False where earlier ones of its subscription were worse than the base rate."""
        return self._line.get("calibrated")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of a forecast: where the probability is thought to lie with nine chances in ten."""
        found = self._line.get("interval")
        return None if found is None else (found[0], found[1])

    @property
    def within(self) -> int | str | None:
        """Of a forecast: its horizon, in events of the key, or a duration as the subscription writes it."""
        return self._line.get("within")

    @property
    def state(self) -> int | None:
        """Of a forecast: the state of the subscription's chain; `line()["label"]` says it in words."""
        return self._line.get("state")

    @property
    def run(self) -> str | int | None:
        """Of a forecast and its resolution: the key's value; 0 where there is one chain for the whole stream."""
        return self._line.get("run")

    @property
    def forecast(self) -> str | None:
        """Of a resolution: the id of the forecast."""
        return self._line.get("forecast")

    @property
    def outcome(self) -> bool | str | None:
        """Of a resolution: whether a match came in time, or "censored" where that will never be known."""
        return self._line.get("outcome")

    @property
    def lead(self) -> int | None:
        """Of a resolution that is true: how long before the match it was foretold, as the horizon counts."""
        return self._line.get("lead")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notification) and self._line == other._line

    __hash__ = None  # type: ignore[assignment]  # it is equal by contents that may change

    def __repr__(self) -> str:
        return f"Notification({self._line!r})"
