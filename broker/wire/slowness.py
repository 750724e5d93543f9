"""The policies for a queue that is full, as both ends know them. The kernel carries them out."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast, get_args

from ..events import DefinitionError, shown

WhenSlow: TypeAlias = Literal["drop_newest", "drop_oldest", "disconnect"]
"""What follows is missed until the queue is empty; what waits longest is missed; or the subscription ends."""

WHEN_SLOW: Final[tuple[str, ...]] = get_args(WhenSlow)
"""The first is what nobody has to ask for."""


def check_when_slow(subscription: str, durable: str | None, when_slow: str | None) -> WhenSlow | None:
    """The policy that a subscription asks for, if it may. Raises DefinitionError."""
    if when_slow is None:
        return None
    if when_slow not in WHEN_SLOW:
        expected = ", ".join(WHEN_SLOW)
        raise DefinitionError(
            f"subscription {subscription!r}: expected when_slow to be one of {expected}, found {shown(when_slow)}"
        )
    if durable is not None:
        raise DefinitionError(
            f"subscription {subscription!r}: expected a durable subscription without when_slow, as its cursor keeps "
            "the newest results, found both"
        )
    return cast(WhenSlow, when_slow)
