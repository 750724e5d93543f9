"""The counts that an engine gives to operators.

Not here: their keeping, which each part does itself.
"""

from __future__ import annotations

from typing import Any

from ..disorder.looking import statistics
from ..parts import EngineParts
from ..subscribing.suspensions import suspended


def figures(engine: EngineParts) -> dict[str, Any]:
    """The counts by name. O(runs)."""
    catalog, program, disorder = engine.catalog, engine.program, engine.disorder
    found = {
        "events": engine.events,
        "matches": engine.matches,
        "streams": len(catalog.streams),
        "published_streams": len(catalog.published),
        "subscriptions": len(catalog.subscriptions),
        **program.merged.statistics(),
        **engine.runtime.runs.statistics(),
        "suspended": len(suspended(catalog, program)),
        **program.machines.statistics(),
    }
    if disorder is not None:
        for name, count in disorder.readers.statistics().items():
            found[name] = found.get(name, 0) + count
        found["suspended"] += len(disorder.readers.suspended())
        found |= statistics(disorder)
    return found | ({"forecasts": program.forecasts.statistics()} if program.forecasts.subscriptions else {})
