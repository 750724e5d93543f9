"""The policies for a full queue, as client and broker name them. Not here: their execution (broker.kernel.delivery)."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast, get_args

from ..events import DefinitionError, shown

WhenSlow: TypeAlias = Literal["drop_newest", "drop_oldest", "disconnect"]
"""Drop new results until the queue is empty, drop the oldest results, or end the subscription."""

WHEN_SLOW: Final[tuple[str, ...]] = get_args(WhenSlow)
"""The names of the policies; the first is the default."""


def check_when_slow(subscription: str, durable: str | None, when_slow: str | None) -> WhenSlow | None:
    """The policy of a subscription, checked. Raises DefinitionError, also for a policy beside a cursor."""
    if when_slow is None:
        return None
    if when_slow not in WHEN_SLOW:
        expected = ", ".join(WHEN_SLOW)
        raise DefinitionError(
            f"subscription {subscription!r}: expected when_slow to be one of {expected}, found {shown(when_slow)}"
        )
    if durable is not None:
        raise DefinitionError(
            f"subscription {subscription!r}: expected either durable or when_slow, found both: the cursor of a durable "
            "subscription always keeps the newest results"
        )
    return cast(WhenSlow, when_slow)
