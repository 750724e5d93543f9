"""Changes the declared streams of a running engine: declares one, adds an attribute, removes one that nothing reads.

Rows have their attributes by position, and a new one stands behind the others. So what has been compiled reads longer
rows as before, and never asks earlier ones for the new attribute.

Not here: what a declaration may say (catalog), what subscriptions publish (entering, leaving).
"""

from __future__ import annotations

from ...events.errors import LimitExceeded
from ...events.stream import StreamDefinition
from ..disorder.joined import JoinedResults
from ..disorder.reordering import Reordering
from ..parts import EngineParts
from .leaving import forget


def declare(engine: EngineParts, definition: StreamDefinition) -> None:
    """Declare a stream; an equal one may be repeated. Raises DefinitionError, LimitExceeded. O(1)."""
    catalog, most = engine.catalog, engine.options.streams_max
    if definition.name not in catalog.streams and len(catalog.streams) >= most:
        raise LimitExceeded(f"an engine may have at most {most} streams (streams_max)")
    catalog.declare(definition)
    if engine.disorder is None and definition.disorder != "arrival":
        engine.disorder = Reordering(catalog, engine.runtime)
    if engine.disorder is not None:
        engine.disorder.orders.stale = True


def add_attribute(engine: EngineParts, stream: str, name: str, kind: str) -> None:
    """Add an attribute to a stream. O(events that are not final)."""
    definition = engine.catalog.add_attribute(stream, name, kind)
    if engine.disorder is not None:
        engine.disorder.widen(stream, len(definition.schema))


def remove_stream(engine: EngineParts, name: str) -> JoinedResults:
    """Remove a declared stream with its events that are not final; the results of those that waited for it.

    Raises UnknownStream, and DefinitionError if a subscription reads it, or publishes it. O(subscriptions + events that
    are not final).
    """
    catalog, disorder = engine.catalog, engine.disorder
    stream = catalog.undeclare(name)
    engine.runtime.refresh()
    forget(catalog, engine.program, engine.runtime, [name])
    if disorder is None:
        return JoinedResults([])
    results = disorder.forget(stream)
    if all(stream.disorder == "arrival" for stream in catalog.streams.values()):
        disorder.end()
        engine.disorder = None
    return results
