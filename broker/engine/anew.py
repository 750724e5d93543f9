"""The newest time goes back: what has seen a time that was none begins anew, and all else stays.

All streams have one order, so that one event far ahead makes every later one late. Who reads its stream remembers that
time and would wait for it; who does not has seen nothing of it but that time has passed. So the subscriptions over the
stream, directly or through what others publish, are made again with nothing begun, and the newest time is set back.
What ended in the epoch of that time stays ended: no event that comes afterwards is simultaneous with it.

Here: that. Not here: which time it is set back to (broker.kernel knows the streams' times), events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..events.errors import DefinitionError
from ..language.subscription import SubscriptionDefinition
from .catalog import in_order
from .results import Results
from .target import ALWAYS_SINCE

if TYPE_CHECKING:
    from .engine import Engine


def begin_anew(engine: Engine, stream: str, time: int | None) -> list[Results]:
    """Make the subscriptions over this stream again, as of this time; what their end has told. O(subscriptions)."""
    again = _reading(engine, stream)
    told: list[Results] = []
    waiting = again
    while waiting:  # readers go before those that publish what they read
        left: list[SubscriptionDefinition] = []
        for definition in waiting:
            try:
                told.append(engine.unsubscribe(definition.name))
            except DefinitionError:
                left.append(definition)
        assert len(left) < len(waiting)
        waiting = left
    engine.runtime.go_back(time)
    since = ALWAYS_SINCE if time is None else time
    for parsed in in_order([engine.catalog.parse(definition) for definition in again]):
        engine.install(parsed, since)
    return told


def _reading(engine: Engine, stream: str) -> list[SubscriptionDefinition]:
    """The subscriptions over a stream, or over what is made of it, in the order in which they came."""
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
