"""Checks the types of arguments that would otherwise raise a TypeError from within."""

from __future__ import annotations

from math import isnan
from typing import Any

from broker.events import DefinitionError, EventError, shown


def checked_seconds(what: str, value: Any) -> None:
    """Raise DefinitionError unless the value is a number of seconds, at least 0."""
    if type(value) not in (int, float) or isnan(value) or value < 0:
        raise DefinitionError(f"{what}: expected seconds, found {shown(value)}")


def checked_text(what: str, value: Any) -> None:
    """Raise DefinitionError unless the value is text."""
    if not isinstance(value, str):
        raise DefinitionError(f"{what}: expected text, found {shown(value)}")


def checked_column(stream: str, what: str, value: Any) -> None:
    """Raise EventError unless the value has a length and an order, as a list does."""
    if isinstance(value, str | bytes | dict) or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        raise EventError(f"stream {stream!r}: expected a sequence of {what}, found {shown(value)}")
