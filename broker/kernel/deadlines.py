"""Refuses requests that come after their deadline, by the broker's clock."""

from __future__ import annotations

from ..wire import Expired


def check_deadline(deadline: int | None, now: int) -> None:
    """Raise Expired if a deadline has passed. Times are microseconds; `deadline` None: there is none."""
    if deadline is not None and now > deadline:
        late = (now - deadline) / 1_000_000
        raise Expired(f"the deadline was {late:,.3f} s ago, before the broker began the request: nothing was done", now)
