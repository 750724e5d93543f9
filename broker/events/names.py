"""Rules for the names of streams, attributes and subscriptions."""

from __future__ import annotations

import re
from typing import Final

from .errors import DefinitionError, shown

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_PATH: Final = re.compile(r"(?=.{1,128}\Z)[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_SUBSCRIPTION_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def checked_name(name: object, what: str) -> str:
    """Return `name` if it is valid for a stream; the error calls it `what`. Raises DefinitionError."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise DefinitionError(
        f"{what} name: expected a letter or _, then at most 127 letters, digits or _, found {shown(name)}"
    )


def checked_attribute(name: object) -> str:
    """Return `name` if it is valid for an attribute: a name, or names joined by dots, the path to a value in nested
    objects. Raises DefinitionError."""
    if isinstance(name, str) and is_attribute(name):
        return name
    raise DefinitionError(
        f"attribute name: expected a letter or _, then at most 127 letters, digits or _, or such names joined by dots, "
        f"found {shown(name)}"
    )


def is_attribute(name: str) -> bool:
    """Whether an attribute may have a name."""
    return _PATH.fullmatch(name) is not None


def checked_subscription_name(name: object) -> str:
    """Return `name` if it is valid for a subscription. Raises DefinitionError."""
    if isinstance(name, str) and _SUBSCRIPTION_NAME.fullmatch(name):
        return name
    raise DefinitionError(f"subscription name: expected 1 to 128 letters, digits or _ . -, found {shown(name)}")
