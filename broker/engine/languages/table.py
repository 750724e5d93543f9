"""The table of languages by name: the only way from a language's name to its row.

Here: the rows, and looking one up. Not here: the form of a row (language), the allowed names of definitions (names, in
broker/language).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...events.errors import DefinitionError, Unsupported
from ...events.schema import Schema
from ...language.names import LANGUAGES as NAMES
from ...language.subscription import SubscriptionDefinition
from .afa import AFA
from .cayuga import CAYUGA
from .language import CopyingQuery, Language
from .ptopss import PTOPSS
from .sase import SASE
from .window import WINDOW

LANGUAGES: Final[dict[str, Language]] = {language.name: language for language in (CAYUGA, SASE, PTOPSS, AFA, WINDOW)}


def register(language: Language) -> None:
    """Add a row before any subscription names it. It replaces a row of the same name."""
    if language.name not in NAMES:
        NAMES.append(language.name)
    LANGUAGES[language.name] = language


def language_of(definition: SubscriptionDefinition) -> Language:
    """The row of a definition's language. Raises Unsupported if the language is only planned."""
    found = LANGUAGES.get(definition.language)
    if found is None:
        raise Unsupported(f"subscription {definition.name!r}: language {definition.language!r} is not supported yet")
    return found


def copying_query(streams: Sequence[tuple[str, Schema]]) -> tuple[str, CopyingQuery]:
    """A query that copies the events of these streams, with the name of its language."""
    return next((row.name, row.copying(streams)) for row in LANGUAGES.values() if row.copying is not None)


def canonical(definition: SubscriptionDefinition) -> str:
    """The text of a definition as this program prints it. Raises Unsupported, QueryError. O(text)."""
    language = language_of(definition)
    return language.print(language.parse(definition.query))


def check_options(definition: SubscriptionDefinition, language: Language) -> None:
    """Raise DefinitionError or Unsupported for an option that the language does not have."""
    name, report = definition.name, definition.report
    if report is not None and report not in language.reports:
        able = _listed([other for other in LANGUAGES.values() if report in other.reports])
        raise DefinitionError(f"subscription {name!r}: report belongs to the language {able}, not to {language.name!r}")
    if definition.forecast is not None and not language.forecasts:
        raise Unsupported(f"subscription {name!r}: forecasts of the language {language.name!r} are not supported yet")


def check_parts(definition: SubscriptionDefinition, language: Language) -> None:
    """Raise DefinitionError if the definition asks for forecasts of parts, and the language has none."""
    if definition.forecast is not None and definition.forecast.get("parts") is True and not language.forecast_parts:
        able = _listed([other for other in LANGUAGES.values() if other.forecast_parts])
        raise DefinitionError(f"forecast: parts = true is for composite subscriptions alone, of the language {able}")


def default_lineage(definition: SubscriptionDefinition) -> bool:
    """Whether the results of a definition carry their lineage, by its own option or its language's default."""
    if definition.lineage is not None:
        return definition.lineage
    found = LANGUAGES.get(definition.language)
    return found is None or found.lineage


def default_report(definition: SubscriptionDefinition) -> str | None:
    """The report of a definition, by its own option or its language's default; None in a language without reports."""
    found = LANGUAGES.get(definition.language)
    if definition.report is not None or found is None or not found.reports:
        return definition.report
    return found.reports[0]


def _listed(languages: list[Language]) -> str:
    return ", ".join(repr(language.name) for language in languages)
