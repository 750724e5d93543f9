"""Changes the declared streams of a running engine: adds an attribute, removes a stream that nothing reads.

Rows have their attributes by position, and a new one stands behind the others. So what has been compiled reads longer
rows as before, and never asks earlier ones for the new attribute.

Not here: declaring one (catalog), what subscriptions publish (entering, leaving).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..disorder.joined import JoinedResults
from .leaving import forget

if TYPE_CHECKING:
    from ..engine import Engine


def add_attribute(engine: Engine, stream: str, name: str, kind: str) -> None:
    """Add an attribute to a stream. O(events that are not final)."""
    definition = engine.catalog.add_attribute(stream, name, kind)
    if engine.disorder is not None:
        engine.disorder.widen(stream, len(definition.schema))


def remove_stream(engine: Engine, name: str) -> JoinedResults:
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
