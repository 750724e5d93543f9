"""One result as the user reads it, and its JSON line. The matching of events makes none of this."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias, final

from ..events.schema import Value
from .matches.sources import Expansion
from .notices import Notice

WORK_LIMIT: Final = "work_max"
BYTES_LIMIT: Final = "run_bytes_max"
FAILURE: Final = "failure"
"""Takes the place of a limit: the subscription is suspended, and why."""
UNMADE: Final = "unmade"
"""Takes the place of a limit: the results of an event could not be made."""


class Match(NamedTuple):
    """One result (design 2.3).

    `lineage` is None if the subscription does not ask for it; so are `bindings`, ids by operand, which only some
    languages have. `tuples`: the number of tuples for which a witness stands, of any size. `incomplete`: a limit was
    hit, and tuples may be missing. `notice`: the result is no match, but a forecast, its resolution or a punctuation.
    `expansion`: all matches that a compressed match stands for. `lifetime`: from when, and to when, all its events
    live, if events do; None for no end. `withdrawn`: the match, reported earlier, is withdrawn.
    """

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
    lifetime: tuple[int, int | None] | None = None
    withdrawn: bool = False

    @property
    def suspends(self) -> bool:
        """Whether this result reports that the subscription finds nothing more from `end` on."""
        return self.limit is not None and self.limit in (WORK_LIMIT, BYTES_LIMIT, FAILURE)

    @property
    def kind(self) -> str:
        """`match`, `retraction`, `forecast`, `resolution` or `punctuation` (see `notice`), or `incomplete`: a limit was
        hit at `end`."""
        if self.notice is not None:
            return self.notice.kind
        if self.limit is not None:
            return "incomplete"
        return "retraction" if self.withdrawn else "match"

    def line(self) -> dict[str, Any]:
        """The result as one JSON object, without the fields that do not apply."""
        if self.notice is not None:
            return self.notice.line(self.subscription)
        if self.limit is not None:
            fields: dict[str, Any] = {"kind": "incomplete", "subscription": self.subscription, "id": self.id}
            fields |= {"limit": self.limit, "since": self.end}
            return {**fields, "suspended": True} if self.suspends else fields
        found: dict[str, Any] = {
            "kind": "retraction" if self.withdrawn else "match",
            "subscription": self.subscription,
            "id": self.id,
            "start": self.start,
            "end": self.end,
        }
        if self.lifetime is not None:
            found["lifetime"] = list(self.lifetime)
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


Rest: TypeAlias = tuple[
    dict[str, list[int]] | None,
    int | None,
    bool,
    str | None,
    Notice | None,
    Expansion | None,
    tuple[int, int | None] | None,
    bool,
]
"""The fields of a match from `bindings` on."""
NOTHING_ELSE: Final[Rest] = (None, None, False, None, None, None, None, False)


def found_match(
    subscription: str,
    id: str,
    start: int,
    end: int,
    lineage: list[int] | None,
    data: dict[str, Value],
    rest: Rest = NOTHING_ELSE,
) -> Match:
    """A match. Costs half of what the constructor of named tuples does, which is written in Python."""
    bindings, tuples, incomplete, limit, notice, expansion, lifetime, withdrawn = rest
    fields = (
        subscription, id, start, end, lineage, data, bindings, tuples, incomplete, limit, notice, expansion, lifetime,
        withdrawn,
    )  # fmt: skip
    return tuple.__new__(Match, fields)


@final
class Failed(NamedTuple):
    """A subscription that hit a defect of this program, the id of the result that reports it, and the exception."""

    subscription: str
    reference: str
    error: Any  # an Exception; compiled tuples cannot name that type
