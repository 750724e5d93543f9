"""Shares: results of one event that are too many to be made at once. They leave the batch and wait unmade.

One event can complete more tuples than any memory holds. A share of such an event for one subscription knows its size,
and makes its results one by one, as often as it is read.

Here: choosing these results, and making shares of them. Not here: who waits for shares, and how long (kernel).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from ..events.batch import batch_of_rows
from .disorder.joined import JoinedResults
from .executors.event_ids import EventIds
from .match import Match
from .matches.composed import Composed
from .program.recipient import Recipient
from .program.target import Outcome, Target
from .results import Results

MADE_AT_ONCE_MAX: Final = 1_024
"""The most tuples of a batch, over all subscriptions, that are made like other results."""


@final
@dataclass(frozen=True, slots=True)
class Share:
    """All results that an event at `time` has for a subscription; their number is None if it was not counted."""

    subscription: str
    time: int
    count: int | None
    results: Iterable[Match]


def taken_out(results: object) -> list[Share]:
    """Take the shares out of a batch, in its order. Iterating over the batch's results then omits them.

    A subscription has either shares in a batch or other results, so its results stay in order. Results that do not come
    from an engine have no shares. O(completions).
    """
    # A compiled class under Sequence accepts every sequence as an instance: an empty tuple, if nothing was published.
    if isinstance(results, tuple | list):
        return []
    if isinstance(results, JoinedResults):
        return [share for part in results.parts for share in taken_out(part)]
    if not isinstance(results, Results) or results.of_runs():
        return []
    parts = results.parts
    each_one = [at for at, composed in enumerate(parts.composed) if composed is not None and composed.each_one]
    counts = [_count(parts.composed[at]) for at in each_one]
    if None not in counts and sum(filter(None, counts)) <= MADE_AT_ONCE_MAX:
        return []
    # Limits reported to the same subscriptions become shares, too, so that they keep their position.
    concerned = {parts.targets[at] for at in each_one}
    names = {subscriber.name for target in concerned for subscriber in target.subscribers()}
    shares: list[Share] = []
    for at, composed in enumerate(parts.composed):
        target = parts.targets[at]
        first = target.first
        if composed is None or first is None:
            continue
        if target not in concerned and (composed.notice is None or first.name not in names):
            continue
        parts.targets[at] = Target(target.outcome, None)  # without subscribers, it cannot get results
        event = parts.events[at]
        shares.extend(_share(results, event, composed, target.outcome, each) for each in target.subscribers())
    return shares


def _count(composed: Composed | None) -> int | None:
    return None if composed is None else composed.count()


def _share(results: Results, event: int, composed: Composed, outcome: Outcome, subscriber: Recipient) -> Share:
    """A share with its own Results of the one event, so that it does not keep the rest of the batch in memory."""
    found = results.found
    derived = event - len(found.times)
    if derived < 0:
        one = slice(event, event + 1)
        row, ids = batch_of_rows([found.batch.row(event)]), EventIds(found.ids.at(event), 1)
        own = Results(found.times[one], row, ids, found.starts[one], {}, results.result_ids)
    else:
        own = Results([], batch_of_rows([]), EventIds(0, 0), [], {}, results.result_ids)
        own.found.derived.append(found.derived[derived])
    own.parts.put(0, Target(outcome, subscriber), composed.detached())
    return Share(subscriber.name, own.found.end_of(0), composed.count() if composed.each_one else 1, own)
