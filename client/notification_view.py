"""The fields of one result: a view of the decoded line, without a copy. Its acknowledgement is in `notification` and
`aio_notification`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Self

from broker.events import LimitExceeded, as_datetime

from .expansion import paths


class NotificationView:
    """A match, or another result of the given `kind`. A field that does not apply is None, and `line()` lacks it.

    A retraction has the id and the fields of the match that it withdraws.

    The `kind` "incomplete" is not a result; it reports that `limit` was hit. One from the broker stands in the place of
    `missed` results from the time `since` on. One from the engine says that at `since` the engine dropped partial
    matches. The field `incomplete` of a match is something else; see there.
    """

    __slots__ = ("_line", "incarnation")

    def __init__(self, line: dict[str, Any], incarnation: int | None = None) -> None:
        self._line = line
        self.incarnation = incarnation
        """Of a durable subscription: tells the cursor from an earlier or later one of the same name."""

    def line(self) -> dict[str, Any]:
        """The result exactly as the broker reports it and as the command line prints it."""
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
        """The id of the match, the same after a restart or a replay."""
        return self._line.get("id")

    @property
    def position(self) -> int | None:
        """Of a durable subscription: the result's number, from 1 on; of an incomplete, that of the last missing one."""
        return self._line.get("position")

    @property
    def redelivered(self) -> bool:
        """Of a durable subscription: it may have been delivered before, because it was not acknowledged."""
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
    def start_time(self) -> datetime | None:
        """`start` as a datetime in UTC; None also outside the years 1 to 9999."""
        return as_datetime(self.start)

    @property
    def end_time(self) -> datetime | None:
        """`end` as a datetime in UTC; None also outside the years 1 to 9999."""
        return as_datetime(self.end)

    @property
    def lifetime(self) -> tuple[int, int | None] | None:
        """Of a match of AFA: the times from which and to which it holds, in microseconds; None for no end."""
        found = self._line.get("lifetime")
        return None if found is None else (found[0], found[1])

    @property
    def time(self) -> int | None:
        """The time of a result that is not a match, in microseconds. Results before that of a punctuation are final."""
        return self._line.get("time")

    @property
    def key(self) -> dict[str, Any] | None:
        """Of a punctuation of one key: the values of BY by name; None: it is of all."""
        return self._line.get("key")

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
        """Event ids by variable or by primitive subscription, in languages that have these."""
        return self._line.get("bindings")

    @property
    def tuples(self) -> int | None:
        """How many tuples of events, or compressed matches, a result stands for; an int of any size.

        `bindings` is one of them, and `expanded` makes the others.
        """
        return self._line.get("tuples")

    def expanded(self) -> Iterator[Self]:
        """The matches that a compressed result stands for, made lazily; any other result yields itself.

        Each has start, end, lineage and bindings; `id` and `data` belong to the result. Raises LimitExceeded if the
        broker reported only one match and their number: with too many events in the window, for a subscription without
        lineage, and for the completions of P-ToPSS.
        """
        graph = self._line.get("matches")
        if graph is None and self.tuples is not None and self.tuples > 1:
            count = f"one of {self.tuples} matches and their number"
            raise LimitExceeded(f"subscription {self.subscription!r}: the broker has reported only {count}")
        return iter((self,)) if graph is None else self._each(graph)

    def _each(self, graph: dict[str, Any]) -> Iterator[Self]:
        for events in paths(graph):
            bindings: dict[str, list[int]] = {}
            for name, ids, _ in events:
                bindings.setdefault(name, []).extend(ids)
            line = {"kind": self.kind, "subscription": self.subscription, "start": events[0][2], "end": self.end}
            lineage = [number for _, ids, _ in events for number in ids]
            yield type(self)({**line, "lineage": lineage, "bindings": bindings})

    @property
    def incomplete(self) -> bool:
        """Of a match: the engine hit a limit, so that tuples may exist which are neither reported nor counted."""
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
        """Of an incomplete of the broker: how many results are missing, an int of any size; None if unknown."""
        return self._line.get("missed")

    @property
    def probability(self) -> float | None:
        """Of a forecast: the probability of a match within its horizon."""
        return self._line.get("probability")

    @property
    def calibrated(self) -> bool | None:
        """Of a forecast: False where earlier ones of its subscription were worse than the base rate."""
        return self._line.get("calibrated")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of a forecast: the 90 % interval of the probability."""
        found = self._line.get("interval")
        return None if found is None else (found[0], found[1])

    @property
    def within(self) -> int | str | None:
        """Of a forecast: its horizon, a number of events of the key or a duration as the subscription writes it."""
        return self._line.get("within")

    @property
    def state(self) -> int | None:
        """Of a forecast: the state of the subscription's chain; `line()["label"]` describes it in words."""
        return self._line.get("state")

    @property
    def run(self) -> str | int | None:
        """Of a forecast and its resolution: the key's value; 0 if one chain serves the whole stream."""
        return self._line.get("run")

    @property
    def forecast(self) -> str | None:
        """Of a resolution: the id of the forecast."""
        return self._line.get("forecast")

    @property
    def outcome(self) -> bool | str | None:
        """Of a resolution: whether a match came in time, or "censored" if that will never be known."""
        return self._line.get("outcome")

    @property
    def lead(self) -> int | None:
        """Of a resolution with a match: how long before the match the forecast was made, in the horizon's unit."""
        return self._line.get("lead")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotificationView) and self._line == other._line

    __hash__ = None  # type: ignore[assignment]  # equality compares contents, which may change

    def __repr__(self) -> str:
        return f"Notification({self._line!r})"
