"""The options of a durable subscription: which cursor, from where on, how soon to deliver again."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, final

from broker.events import DefinitionError, checked_subscription_name, parse_instant, shown

POSITION_MAX: Final = 2**63 - 1
_MICROSECONDS: Final = 1_000_000
_SECONDS_MAX: Final = 1_000_000_000.0


@final
@dataclass(frozen=True, slots=True)
class Durable:
    """The name of a cursor, and what else is wanted of it; None: what holds without.

    `retain`: a new cursor keeps so many results after they were acknowledged, too, as long as there is room.
    `replay`: the position from which on results are delivered again, acknowledged or not; `since`: likewise, the time,
    microseconds or ISO-8601. Acknowledgements stay: the next reader goes on behind them. `acknowledge_within`, in
    seconds: what was delivered comes again when for so long nothing was acknowledged. `deliveries_max`: what was
    delivered so often as the first that is not acknowledged is set aside as a dead letter, and not delivered again.
    Raises DefinitionError.
    """

    cursor: str
    retain: int | None = None
    replay: int | None = None
    since: int | str | None = None
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
        """The fields of Subscribe that say this. Raises EventError for a time that is none."""
        within = self.acknowledge_within
        return {
            "durable": self.cursor,
            "retain": self.retain,
            "replay": self.replay,
            "since": None if self.since is None else parse_instant(self.since),
            "within": None if within is None else max(1, round(within * _MICROSECONDS)),
            "deliveries_max": self.deliveries_max,
        }


def _is_wait(seconds: float) -> bool:
    return isfinite(seconds) and 0 < seconds <= _SECONDS_MAX
