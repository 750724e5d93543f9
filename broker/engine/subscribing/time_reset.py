"""Sets the newest time back after an invalid event time, and restarts the subscriptions that have seen that time.

All streams share one order, so one event with a time far ahead makes every later event late. Subscriptions over its
stream have that time in their state and would wait for it; for all others time has only advanced. So the subscriptions
over the stream, directly or through published streams, restart with empty state, and the newest time is set back.
Windows that the invalid time has closed stay closed: no later event is simultaneous with it.

Not here: choosing the time to go back to (broker.kernel knows the times of the streams), events.
"""

from __future__ import annotations

from ...events.errors import DefinitionError, Unsupported
from ...language.subscription import SubscriptionDefinition
from ..parts import EngineParts
from ..program.target import ALWAYS_SINCE
from ..results import Results
from .entering import install
from .holdings import in_order
from .leaving import unsubscribe
from .updating import update_again


def restart_readers(engine: EngineParts, stream: str, time: int | None) -> list[Results]:
    """Restart the subscriptions over this stream as of `time`; returns the results of ending them. O(subscriptions)."""
    if engine.disorder is not None:
        raise Unsupported(f"stream {stream!r}: time is not set back where a stream has disorder: not supported yet")
    again = _reading(engine, stream)
    before = {each.name: engine.catalog.subscriptions[each.name] for each in again}
    widths = {name: engine.catalog.widths(subscriber) for name, subscriber in before.items()}
    ended: list[Results] = []
    waiting = again
    while waiting:  # remove readers before the publishers that they read from
        left: list[SubscriptionDefinition] = []
        for definition in waiting:
            try:
                ended.append(unsubscribe(engine, engine.catalog.subscriptions[definition.name]))
            except DefinitionError:
                left.append(definition)
        assert len(left) < len(waiting)
        waiting = left
    engine.runtime.go_back(time)
    since = ALWAYS_SINCE if time is None else time
    for parsed in in_order([engine.catalog.parse(definition) for definition in again]):
        name = parsed.definition.name
        install(engine, parsed, since, widths[name])
        own = engine.catalog.subscriptions[name]
        update_again(engine.program, engine.runtime, engine.disorder, own, before[name].updates)
    return ended


def _reading(engine: EngineParts, stream: str) -> list[SubscriptionDefinition]:
    """The subscriptions that read a stream, directly or through published streams, in order of registration."""
    reached = {stream}
    found: dict[str, None] = {}
    more = True
    while more:
        more = False
        for name, subscriber in engine.catalog.subscriptions.items():
            form = subscriber.form
            if name not in found and any(source in reached for source, _ in form.sources):
                found[name] = None
                more = True
                if form.publish is not None:
                    reached.add(form.publish)
    return [s.definition() for name, s in engine.catalog.subscriptions.items() if name in found]
