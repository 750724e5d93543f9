"""The options of a durable subscription: its cursor, where it starts, when it delivers again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, Final, final

from broker.events import DefinitionError, checked_subscription_name, instant_of, shown

POSITION_MAX: Final = 2**63 - 1
_MICROSECONDS: Final = 1_000_000
_SECONDS_MAX: Final = 1_000_000_000.0


@final
@dataclass(frozen=True, slots=True)
class Durable:
    """The name of a cursor and its options; None: the default.

    `retain`: a new cursor keeps this many acknowledged results, as long as there is room. `replay`: deliver again
    from this position on, acknowledged results included; `since`: the same from a time on, in microseconds, ISO-8601
    or as a datetime. Acknowledgements stay, and the next reader continues behind them. `acknowledge_within`, in
    seconds: delivered results are delivered again when nothing was acknowledged for this long. `deliveries_max`: a
    result that was delivered this often as the first unacknowledged one becomes a dead letter, and is not delivered
    again. Raises DefinitionError.
    """

    cursor: str
    retain: int | None = None
    replay: int | None = None
    since: int | str | datetime | None = None
    acknowledge_within: float | None = None
    deliveries_max: int | None = None

    def __post_init__(self) -> None:
        checked_subscription_name(self.cursor)
        self._check("retain", self.retain, 0)
        self._check("replay", self.replay, 1)
        self._check("deliveries_max", self.deliveries_max, 1)
        if self.replay is not None and self.since is not None:
            raise DefinitionError(f"cursor {self.cursor!r}: expected replay or since, found both")
        seconds = self.acknowledge_within
        if seconds is not None and (type(seconds) not in (int, float) or not _is_wait(seconds)):
            raise DefinitionError(
                f"cursor {self.cursor!r}: acknowledge_within: expected seconds greater than 0, found {shown(seconds)}"
            )

    def _check(self, name: str, value: int | None, least: int) -> None:
        if value is not None and (type(value) is not int or not least <= value <= POSITION_MAX):
            raise DefinitionError(
                f"cursor {self.cursor!r}: {name}: expected a whole number from {least} on, found {shown(value)}"
            )

    def fields(self) -> dict[str, Any]:
        """The fields of Subscribe with these options. Raises EventError if `since` is not a time."""
        within = self.acknowledge_within
        return {
            "durable": self.cursor,
            "retain": self.retain,
            "replay": self.replay,
            "since": None if self.since is None else instant_of(self.since),
            "within": None if within is None else max(1, round(within * _MICROSECONDS)),
            "deliveries_max": self.deliveries_max,
        }


def _is_wait(seconds: float) -> bool:
    return isfinite(seconds) and 0 < seconds <= _SECONDS_MAX
