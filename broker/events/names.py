"""Rules for the names of streams, attributes and subscriptions."""

from __future__ import annotations

import re
from typing import Final

from .errors import DefinitionError, shown

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SUBSCRIPTION_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def checked_name(name: object, what: str) -> str:
    """Return `name` if it is valid for a stream or an attribute; the error calls it `what`.

    Raises DefinitionError.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise DefinitionError(
        f"{what} name: expected a letter or _, then at most 127 letters, digits or _, found {shown(name)}"
    )


def checked_subscription_name(name: object) -> str:
    """Return `name` if it is valid for a subscription. Raises DefinitionError."""
    if isinstance(name, str) and _SUBSCRIPTION_NAME.fullmatch(name):
        return name
    raise DefinitionError(f"subscription name: expected 1 to 128 letters, digits or _ . -, found {shown(name)}")
