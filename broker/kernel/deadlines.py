"""Refuses requests that come after their deadline, by the broker's clock."""

from __future__ import annotations

from ..wire import Expired


def check_deadline(deadline: int | None, now: int) -> None:
    """Raises Expired, before anything is done. `deadline` None: there is none."""
    if deadline is not None and now > deadline:
        late = (now - deadline) / 1_000_000
        raise Expired(f"nobody waits for this any more: its deadline was {late:,.3f} s ago, and it was not begun", now)
