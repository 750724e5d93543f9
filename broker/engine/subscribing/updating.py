"""Updates a subscription's arcs while it runs, wherever its runs are kept (Chandramouli et al., 2.3).

Here: from when an update holds, and what it must not reach. Not here: the arcs of a text (languages), the repair of
what has been found (executors).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...automaton.arc_updates import ArcUpdate, ChangedArcs
from ...events.errors import DefinitionError, EventError, LimitExceeded, QueryError, Unsupported, shown
from ...events.instant import FOREVER, LARGEST
from ..disorder.copies import name_of_copy
from ..disorder.joined import JoinedResults
from ..disorder.reordering import Reordering
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.punctuation import newest
from ..parts import EngineParts
from ..program.program import Program
from .subscriber import Subscriber

ALL_TIME: Final = -FOREVER


def update(
    engine: EngineParts,
    subscriber: Subscriber,
    insert: Sequence[str],
    delete: Sequence[str],
    start: int | None,
    end: int | None,
) -> JoinedResults:
    """Insert and delete arcs, for events from `start` on and before `end`; by default for all later than any so far.

    All of it takes effect, or nothing. Raises QueryError, DefinitionError, EventError, LimitExceeded or Unsupported.
    """
    name = subscriber.name
    if subscriber.form.changing is None:
        language = subscriber.form.language
        raise Unsupported(f"subscription {name!r}: updates of the language {language!r} are not supported yet")
    begin, earliest = present(engine, name)
    if start is not None:
        begin = _instant(name, "start", start)
        if begin < earliest:
            raise EventError(
                f"subscription {name!r}: expected a start of {earliest} or later, since earlier events are final,"
                f" found {begin}"
            )
    until = FOREVER if end is None else _instant(name, "end", end)
    if until <= begin:
        raise EventError(f"subscription {name!r}: expected an end after the start {begin}, found {until}")
    if not insert and not delete:
        raise DefinitionError(f"subscription {name!r}: expected arcs to insert or delete, found none")
    most = engine.options.updates_max
    if len(subscriber.updates) >= most:
        raise LimitExceeded(f"subscription {name!r}: at most {most} updates of one subscription (updates_max)")
    change = ArcUpdate(_texts(name, "insert", insert), _texts(name, "delete", delete), begin, until)
    try:
        now = subscriber.first_arcs() if subscriber.changed is None else subscriber.changed
        arcs = subscriber.changed = now.updated(change, _settled(engine, subscriber.form.sources[0][0], earliest))
    except QueryError as error:
        raise QueryError(f"subscription {name!r}: {error}", error.line, error.column, error.excerpt) from None
    except (DefinitionError, LimitExceeded) as error:
        raise type(error)(f"subscription {name!r}: {error}") from None
    subscriber.updates.append(change)
    changed = ChangedArcs(arcs.automaton, begin, until)
    return _rewrite(engine.program, engine.runtime, engine.disorder, subscriber, changed)


def _settled(engine: EngineParts, stream: str, earliest: int) -> int:
    """The time before which no event comes any more, whoever reads it, nor is processed again."""
    return earliest if engine.disorder is None else engine.disorder.marks.safe(stream)


def present(engine: EngineParts, name: str) -> tuple[int, int]:
    """The time from which on an update of a subscription holds by default, and the earliest one from which it may."""
    if engine.disorder is not None:
        marks, reader = engine.disorder.marks, engine.disorder.readers.by_name.get(name)
        safe = marks.safe(engine.catalog.subscriptions[name].form.sources[0][0])
        settled = safe if reader is None else max(safe, reader.settled_until())
        return max(marks.newest + 1, settled), settled
    now, promised = engine.now, newest(engine.runtime)
    if now is None or promised is None:
        return ALL_TIME, ALL_TIME
    first = promised if promised > now else now + 1
    return first, first


def _rewrite(
    program: Program, runtime: Dispatcher, disorder: Reordering | None, subscriber: Subscriber, changed: ChangedArcs
) -> JoinedResults:
    """Let the runs follow the arcs as they are now."""
    plan, machines = subscriber.machine, program.machines
    assert plan is not None
    for name in (subscriber.name, name_of_copy(subscriber.name)):
        if name in machines.registrations and machines.rewrite(name, plan, changed):
            runtime.refresh()
    if disorder is None:
        return JoinedResults([])
    return disorder.rewrite(subscriber.name, changed)


def update_again(
    program: Program,
    runtime: Dispatcher,
    disorder: Reordering | None,
    subscriber: Subscriber,
    updates: Sequence[ArcUpdate],
) -> None:
    """Apply the updates of a subscription that starts again, and has taken no event yet."""
    if not updates or subscriber.form.changing is None:
        return
    arcs = subscriber.changed = subscriber.first_arcs().after(updates)
    subscriber.updates = list(updates)
    _rewrite(program, runtime, disorder, subscriber, ChangedArcs(arcs.automaton, ALL_TIME, FOREVER))


def _instant(name: str, what: str, time: object) -> int:
    if type(time) is not int or not -LARGEST <= time <= LARGEST:
        raise EventError(f"subscription {name!r}: {what}: expected microseconds, at most 2**61, found {shown(time)}")
    return time


def _texts(name: str, what: str, texts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise DefinitionError(f"subscription {name!r}: {what}: expected a list of strings, found {shown(texts)}")
    return tuple(texts)
