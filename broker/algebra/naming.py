"""Names the output attributes of operators (Cayuga, semantics 1.3), left to right in schema order.

Here: the naming rules of NEXT, FOLD and SELECT and the resulting schemas. Not here: the values.
"""

from __future__ import annotations

from ..events.schema import Attribute, Schema


def generated(name: str, taken: set[str]) -> str:
    """Return `name` with as many `_1` as it needs to be new, and add it to `taken`."""
    while name in taken:
        name += "_1"
    taken.add(name)
    return name


def sequence_schema(left: Schema, right: Schema) -> Schema:
    """The schema of NEXT: if the inputs share any name, every left attribute gets `_1`; right ones keep theirs."""
    taken = set(right.names)
    shared = any(name in taken for name in left.names)
    renamed = [
        Attribute(generated(a.name + "_1", taken) if shared else a.name, a.type, a.nullable) for a in left.attributes
    ]
    return Schema((*renamed, *right.attributes))


def iteration_schema(left: Schema, right: Schema) -> Schema:
    """The schema of FOLD: first values of the shared attributes as `name_1`, then the last values of all attributes."""
    taken = set(left.names)
    shared = set(right.names)
    firsts = [
        Attribute(generated(a.name + "_1", taken), a.type, a.nullable) for a in left.attributes if a.name in shared
    ]
    lasts = [
        Attribute(
            a.name, a.type, a.nullable or (a.name in shared and right.attributes[right.position(a.name)].nullable)
        )
        for a in left.attributes
    ]
    return Schema((*firsts, *lasts))
