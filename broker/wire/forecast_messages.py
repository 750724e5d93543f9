"""Messages about forecasts, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: a new one goes to the
end and raises the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from . import shapes as s
from .row import MessageRow

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class AskProbability:
    """How likely the next match of one key is; answered by ProbabilityReport.

    `key`: its values, none where one chain serves the whole stream. `within`: as a subscription says it, nil for its
    own horizon.
    """

    correlation: int
    name: str
    key: tuple[Any, ...]
    within: int | str | None


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class ProbabilityReport:
    """`report`: what is known, by name."""

    correlation: int
    report: dict[str, Any]


# ---- the table ----

ROWS: Final = (
    MessageRow(19, AskProbability, (s.NAME, s.ARRAY, s.optional(s.HORIZON)), answer=ProbabilityReport, at_once=True),
    MessageRow(
        43,
        ProbabilityReport,
        (s.PLAIN,),
        means=(
            "how likely the next match of a key is: `probability`, `lower`, `upper`, `within`, `state`, "
            "`label`, `effective`, `calibrated`, `time` and `run`, as in [a client's](client.md#forecasts)"
        ),
    ),
)
