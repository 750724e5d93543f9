"""The definition of a subscription before its query is parsed.

Only the form of the definition is checked here, so that files, lines and clients get the same error messages.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, final, get_args

from ..events.errors import DefinitionError, shown
from ..events.names import checked_subscription_name
from ..events.nearest import suggestion
from .names import LANGUAGES, language_named

Report: TypeAlias = Literal["all", "completions"]
"""all: every tuple of events; completions: one result for each completing event and binding."""

_NO_LANGUAGE: Final = re.compile(r"[\s{(]")
"""A text with one of these is a query that was given in the place of the language."""

Results: TypeAlias = Literal["each", "final"]
"""each: a result is told when it is found, and withdrawn if it no longer holds; final: once, when it is final."""

RESULTS: Final[tuple[str, ...]] = get_args(Results)
REPORTS: Final[tuple[str, ...]] = get_args(Report)
FORECAST_KEYS: Final = (
    "within",
    "threshold",
    "context",
    "per",
    "states",
    "half_life",
    "effective",
    "cautious",
    "uncalibrated",
    "recalibrate",
    "parts",
    "exceeds",
)


@final
@dataclass(frozen=True, slots=True)
class SubscriptionDefinition:
    """A subscription with its name and options. Raises DefinitionError, whose message starts with the name.

    `lineage`
    None means the language's default, `results` None means each. `forecast` is stored as given; only its keys are
    checked here.
    """

    name: str
    language: str
    query: str
    lineage: bool | None = None
    report: str | None = None
    forecast: dict[str, Any] | None = field(default=None, hash=False)
    results: str | None = None

    def __post_init__(self) -> None:
        checked_subscription_name(self.name)
        if isinstance(self.language, str):
            object.__setattr__(self, "language", language_named(self.language))
            if _NO_LANGUAGE.search(self.language):
                text = f"query={shown(self.language).removeprefix('string ')}"
                raise self._error(f"language: expected one of {', '.join(LANGUAGES)}, found a query; write {text}")
        self._check_word("language", self.language, LANGUAGES)
        if not isinstance(self.query, str):
            raise self._error(f"query: expected text, found {shown(self.query)}")
        if self.lineage is not None and type(self.lineage) is not bool:
            raise self._error(f"lineage: expected true or false, found {shown(self.lineage)}")
        if self.report is not None:
            self._check_word("report", self.report, REPORTS)
        if self.results is not None:
            self._check_word("results", self.results, RESULTS)
        if self.forecast is not None:
            self._check_forecast(self.forecast)

    def _check_word(self, what: str, word: object, known: Collection[str]) -> None:
        if isinstance(word, str) and word in known:
            return
        hint = suggestion(word, known) if isinstance(word, str) else ""
        raise self._error(f"{what}: expected one of {', '.join(known)}, found {shown(word)}{hint}")

    def _check_forecast(self, forecast: object) -> None:
        if not isinstance(forecast, dict):
            raise self._error(
                f"forecast: expected a table such as {{ within = 10, threshold = 0.8 }}, found {shown(forecast)}"
            )
        for key in forecast:
            if key not in FORECAST_KEYS:
                hint = suggestion(key, FORECAST_KEYS) or f"; expected {', '.join(FORECAST_KEYS)}"
                raise self._error(f"forecast: unknown key {shown(key).removeprefix('string ')}{hint}")

    def _error(self, message: str) -> DefinitionError:
        return DefinitionError(f"subscription {self.name!r}: {message}")
