"""Results that are too many to be made at once, taken out of a batch: they wait unmade.

One event can complete more tuples than any memory holds. What it has for one subscription is then a share: it knows
its size, and makes its results one by one, again for whoever asks again.

Here: which results these are, and shares of them. Not here: who waits for them, and how long (kernel).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from .composed import Composed
from .match import Match
from .results import Results
from .subscriber import Subscriber
from .target import Outcome, Target

MADE_AT_ONCE_MAX: Final = 1_024
"""Tuples of a batch, over all subscriptions, that are made like other results."""


@final
@dataclass(frozen=True, slots=True)
class Share:
    """All results that an event at `time` has for a subscription; None where nobody has counted them."""

    subscription: str
    time: int
    count: int | None
    results: Iterable[Match]


def taken_out(results: object) -> list[Share]:
    """The shares of a batch, in its order; whoever iterates over its results afterwards does not find them there.

    A subscription has either shares in a batch or other results, so that it keeps their order. Of what is no engine's
    results, none is too many. O(completions).
    """
    # Compiled, a class under Sequence takes every sequence for its own: an empty tuple, where nothing was published.
    if isinstance(results, tuple | list) or not isinstance(results, Results):
        return []
    results.unfold()
    counts = [composed.count() for composed in results.composed.values() if composed.each_one]
    if None not in counts and sum(filter(None, counts)) <= MADE_AT_ONCE_MAX:
        return []
    blocks = [(block, results.block_upto[block] - 1, composed) for block, composed in results.composed.items()]
    # With their tuples goes what else the same subscriptions are told, of limits, so that it keeps its place.
    concerned = {results.targets[at] for _, at, composed in blocks if composed.each_one}
    names = {subscriber.name for target in concerned for subscriber in target.subscribers()}
    shares: list[Share] = []
    for block, at, composed in blocks:
        target = results.targets[at]
        first = target.first
        if target not in concerned and (composed.notice is None or first is None or first.name not in names):
            continue
        results.targets[at] = Target(target.outcome, None)  # it has nobody whom the others' results could come to
        event = results.block_event[block]
        shares.extend(_share(results, event, composed, target.outcome, each) for each in target.subscribers())
    return shares


def _share(results: Results, event: int, composed: Composed, outcome: Outcome, subscriber: Subscriber) -> Share:
    """Results of their own with the one event, so that the rest of the batch is not kept for them."""
    epochs = results.epochs
    derived = event - len(epochs.times)
    if derived < 0:
        one = slice(event, event + 1)
        own = Results(epochs.times[one], epochs.rows[one], epochs.ids[one], epochs.starts[one], {})
        time = own.epochs.times[0]
    else:
        own = Results([], [], [], [], {})
        own.epochs.derived.append(results.epochs.derived[derived])
        time = own.epochs.derived[0].time
    own.targets.append(Target(outcome, subscriber))
    own.compose(0, composed)
    return Share(subscriber.name, time, composed.count() if composed.each_one else 1, own)
