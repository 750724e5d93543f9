"""The counts of one version of a subscription: taken from a model, checked, and gone on with.

A version is a subscription's name, "@" and the digest of what its states mean; counts of other versions mean something
else.

Here: versions in models. Not here: what the digest covers (broker.forecast.plan), files (model_file).
"""

from __future__ import annotations

from ..events.errors import DefinitionError
from .counts import Context, Counts
from .forecaster import Forecaster
from .model_file import Model


def check_version(model: Model, subscription: str, version: str) -> None:
    """Raises DefinitionError where the model knows the subscription in other versions only."""
    known = [found for found in model.counts.versions() if found.rpartition("@")[0] == subscription]
    if known and version not in known:
        raise DefinitionError(
            f"subscription {subscription!r}: the model was trained with another query or other states:"
            f" expected version {version}, found {known[0]}"
        )


def counts_of(counts: Counts, version: str) -> Counts:
    """The counts of one version."""
    found = Counts()
    for (name, context), table in counts.tables.items():
        if name == version:
            found.clocks.setdefault(version, counts.clock_of(version))
            for generation, rows in table.generations.items():
                for state, row in rows.items():
                    for following, count in row.items():
                        found.table(version, context).put(generation, state, following, count)
    return found


def continued(counts: Counts, version: str, half_life: int | None) -> Counts:
    """The counts of one version, to go on with. Raises DefinitionError where they forget by another half-life."""
    found = Counts(half_life)
    found.table(version)
    if not counts.tables:
        return found
    found.merge(counts_of(counts, version))
    return found


def others(counts: Counts, versions: set[str]) -> Counts:
    """The counts of other versions than these."""
    found = Counts()
    for version in counts.versions():
        if version not in versions:
            found.merge(counts_of(counts, version))
    return found


def count_stays(counts: Counts, forecaster: Forecaster, context: Context, state: int, time: int, times: int) -> None:
    """Count events, the last at `time`, that have left the state as it was."""
    clock = counts.clock_of(forecaster.version)
    generation = time // clock.width if clock.width else 0
    counts.table(forecaster.version, context).put(generation, state, state, times)
    clock.generation = max(clock.generation, generation)
