"""Messages about forecasts, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class AskProbability:
    """Ask for the probability of the next match of one key. Answered by ProbabilityReport.

    `key`: its values, empty if one chain serves the whole stream. `within`: a horizon as in a subscription's options;
    nil: the subscription's own.
    """

    correlation: int
    name: str
    key: tuple[Any, ...]
    within: int | str | None


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class ProbabilityReport:
    """The probability and what it rests on; `report` has the fields by name."""

    correlation: int
    report: dict[str, Any]


# ---- the table ----

ForecastMessage: TypeAlias = AskProbability | ProbabilityReport

ROWS: Final = (
    MessageRow(19, AskProbability, (s.NAME, s.ARRAY, s.optional(s.HORIZON)), answer=ProbabilityReport, at_once=True),
    MessageRow(
        43,
        ProbabilityReport,
        (s.PLAIN,),
        means=(
            "the probability of the next match of a key: `probability`, `lower`, `upper`, `within`, `state`, "
            "`label`, `effective`, `calibrated`, `time` and `run`, as in [a client's](client.md#forecasts)"
        ),
    ),
)
