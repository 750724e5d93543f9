"""One result, as whoever reads it has it, and as it is written. Nothing here is made while events are matched."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..events.schema import Value
from .executors.matches import Expansion
from .notices import Forecast, Notice

WORK_LIMIT: Final = "work_max"
FAILURE: Final = "failure"
"""In the place of a limit: why a subscription is suspended."""
UNMADE: Final = "unmade"
"""In the place of a limit: results of an event could not be made."""


class Match(NamedTuple):
    """One result (design 2.3). `lineage` is None where the subscription does not want it; so are `bindings`, ids by
    operand, which not every language has. `tuples`: how many a witness stands for, of any size. `incomplete`: a limit
    was hit, and tuples may be missing. `notice`: it is no match, but a forecast or what became of one. `expansion`: of
    a compressed match, all that it stands for."""

    subscription: str
    id: str
    start: int
    end: int
    lineage: list[int] | None
    data: dict[str, Value]
    bindings: dict[str, list[int]] | None = None
    tuples: int | None = None
    incomplete: bool = False
    limit: str | None = None
    notice: Notice | None = None
    expansion: Expansion | None = None

    @property
    def suspends(self) -> bool:
        """Whether it is word that the subscription finds nothing more from `end` on."""
        return self.limit is not None and self.limit in (WORK_LIMIT, FAILURE)

    @property
    def kind(self) -> str:
        """`incomplete`: no match, but word of a limit that was hit at `end`. `forecast`, `resolution`: see `notice`."""
        if self.notice is not None:
            return "forecast" if isinstance(self.notice, Forecast) else "resolution"
        return "match" if self.limit is None else "incomplete"

    def line(self) -> dict[str, Any]:
        """The result as one JSON object; what does not apply is absent."""
        if self.notice is not None:
            return self.notice.line(self.subscription)
        if self.limit is not None:
            said: dict[str, Any] = {"kind": "incomplete", "subscription": self.subscription, "id": self.id}
            said |= {"limit": self.limit, "since": self.end}
            return {**said, "suspended": True} if self.suspends else said
        found: dict[str, Any] = {
            "kind": "match",
            "subscription": self.subscription,
            "id": self.id,
            "start": self.start,
            "end": self.end,
        }
        if self.lineage is not None:
            found["lineage"] = self.lineage
        if self.bindings is not None:
            found["bindings"] = self.bindings
        found["data"] = self.data
        if self.tuples is not None:
            found["tuples"] = self.tuples
        if self.incomplete:
            found["incomplete"] = True
        matches = None if self.expansion is None else self.expansion.line()
        if matches is not None:
            found["matches"] = matches
        return found
