"""Joins consecutive notification messages of one session and subscription into one.

The results of one pass for one session and subscription leave in one message, as a message costs more than a result.
Two messages are joined only if nothing else is sent to that session in between, and within the bounds of a message.
Messages of a cursor stay as they are, because they carry positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import final

from ..kernel import Send
from ..wire import Notifications
from ..wire.limits import NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX


@final
@dataclass(slots=True)
class _Run:
    """Consecutive notifications of one session and subscription; `sends` has one or more."""

    sends: list[Send]
    parts: list[tuple[bytes, ...]]
    following: int
    size: int


def coalesced(sends: list[Send]) -> list[Send]:
    """The same results in the same order for each session, in fewer Notifications messages. O(sends)."""
    if len(sends) <= 2:
        return sends  # usually a receipt and the results of its batch
    found: list[Send | _Run] = []
    last: dict[bytes, _Run | None] = {}  # by session, the run that may still grow
    for send in sends:
        message = send.message
        if type(message) is not Notifications or message.position is not None:
            last[send.session] = None
            found.append(send)
            continue
        results = message.results
        size = sum(map(len, results))
        run = last.get(send.session)
        if run is not None and _fits(run, message, size):
            run.sends.append(send)
            run.parts.append(results)
            run.following += len(results)
            run.size += size
        else:
            run = last[send.session] = _Run([send], [results], message.first + len(results), size)
            found.append(run)
    return [each if isinstance(each, Send) else _closed(each) for each in found]


def _fits(run: _Run, message: Notifications, size: int) -> bool:
    first = run.sends[0].message
    return (
        type(first) is Notifications
        and first.subscription == message.subscription
        and run.following == message.first
        and run.size + size <= NOTIFICATIONS_BYTES_TARGET
        and message.first + len(message.results) - first.first <= NOTIFICATIONS_COUNT_MAX
    )


def _closed(run: _Run) -> Send:
    send = run.sends[0]
    first = send.message
    if len(run.sends) == 1 or type(first) is not Notifications:
        return send
    return Send(send.session, Notifications(0, first.subscription, first.first, tuple(chain.from_iterable(run.parts))))
