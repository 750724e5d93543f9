"""Checks the types of arguments that would otherwise raise a TypeError from within."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any, Final

from broker.events import DefinitionError, EventError, shown
from broker.events.column_checks import table_hint

from .durable import Durable

_NO_COLUMNS: Final = (str, bytes, dict)


def checked_seconds(what: str, value: Any) -> None:
    """Raise DefinitionError unless the value is a number of seconds, at least 0."""
    if type(value) not in (int, float) or isnan(value) or value < 0:
        raise DefinitionError(f"{what}: expected seconds, found {shown(value)}")


def checked_text(what: str, value: Any) -> None:
    """Raise DefinitionError unless the value is text."""
    if not isinstance(value, str):
        raise DefinitionError(f"{what}: expected text, found {shown(value)}")


def checked_forecast(name: str, value: Any) -> None:
    """Raise DefinitionError unless the value is a table or None."""
    if not isinstance(value, Mapping | None):
        example = "a table such as {'within': 10, 'threshold': 0.8}"
        raise DefinitionError(f"subscription {name!r}: forecast: expected {example}, found {shown(value)}")


def checked_durable(name: str, value: Any) -> None:
    """Raise DefinitionError unless the value is a cursor's name, a Durable or None."""
    if not isinstance(value, str | Durable | None):
        raise DefinitionError(f"subscription {name!r}: durable: expected a name or Durable, found {shown(value)}")


def checked_column(stream: str, what: str, value: Any) -> None:
    """Raise EventError unless the value has a length and an order, as a list does."""
    if type(value) is list:
        return
    listed = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not table_hint(value)
    if isinstance(value, _NO_COLUMNS) or not listed:
        raise EventError(f"stream {stream!r}: expected a sequence of {what}, found {shown(value)}{table_hint(value)}")
