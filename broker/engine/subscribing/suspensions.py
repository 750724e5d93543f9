"""Subscriptions whose machines were suspended: their names, the reasons, and how a snapshot saves them.

Here: reading and saving. Not here: the decision to suspend a machine (account, lanes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..dispatch.matchers import Matcher
from ..match import Failed
from ..program.account import NOT_SUSPENDED
from ..program.program import Program
from ..results import SUSPENSIONS, Results
from .catalog import Catalog

WHOLE: Final = -1  # instead of a part's number: the machine of the whole subscription


def failed(results: Results) -> list[Failed]:
    """The subscriptions that defects of this program suspended in a batch. O(1) if there are none."""
    failures = [*results.failures, *results.found.failures]
    return [
        Failed(subscriber.name, results.reference(event, subscriber), error)
        for event, targets, error in failures
        for target in targets
        for subscriber in target.subscribers()
    ]


def suspended(catalog: Catalog, program: Program) -> dict[str, tuple[str, int]]:
    """The subscriptions that find nothing more: name, reason and time. O(subscriptions with machines)."""
    found = {name: (SUSPENSIONS[reason], since) for name, (reason, since) in catalog.withdrawn.items()}
    return found | {
        name: (SUSPENSIONS[int(matcher.suspended)], int(matcher.since))
        for name, part, matcher in _machines(program)
        if part == WHOLE and matcher.suspended != NOT_SUSPENDED
    }


def save(program: Program) -> list[Any]:
    """The state of accounts and suspensions that differs from the initial state. O(subscriptions)."""
    return [
        [name, part, int(matcher.machine.account.left), int(matcher.suspended), int(matcher.since)]
        for name, part, matcher in _machines(program)
        if matcher.suspended != NOT_SUSPENDED or matcher.machine.account.left < matcher.machine.account.most
    ]


def restore(data: Sequence[Any], program: Program) -> None:
    """The inverse, after all subscriptions have joined. Raises KeyError, TypeError or ValueError for other data."""
    machines = {(name, part): matcher for name, part, matcher in _machines(program)}
    for name, part, left, reason, since in data:
        matcher = machines[name, part]
        matcher.machine.account.left = min(left, int(matcher.machine.account.most))
        matcher.suspended, matcher.since = reason, since
        matcher.taken = matcher.taken or reason != NOT_SUSPENDED


def _machines(program: Program) -> Iterator[tuple[str, int, Matcher]]:
    """Subscription, number of its part or WHOLE, the machine, which several may share."""
    for name, registration in program.machines.registrations.items():
        yield name, WHOLE, registration.matcher
        for number, part in enumerate(registration.parts):
            yield name, number, part
