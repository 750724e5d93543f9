"""Law: what is asked of forecasts, and the answer; plain values, as in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

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
