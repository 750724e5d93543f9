"""Names the attributes that operators put out (Cayuga, semantics 1.3), left to right in schema order.

Here: the naming rules of NEXT, FOLD and SELECT and the schemas that follow. Not here: what the values are.
"""

from __future__ import annotations

from ..events.schema import Attribute, Schema


def generated(name: str, taken: set[str]) -> str:
    """`name`, with a further `_1` while it is taken; takes it."""
    while name in taken:
        name += "_1"
    taken.add(name)
    return name


def sequence_schema(left: Schema, right: Schema) -> Schema:
    """NEXT: where the inputs share any name, every left attribute gets `_1`; right ones keep theirs."""
    taken = set(right.names)
    shared = any(name in taken for name in left.names)
    renamed = [
        Attribute(generated(a.name + "_1", taken) if shared else a.name, a.type, a.nullable) for a in left.attributes
    ]
    return Schema((*renamed, *right.attributes))


def iteration_schema(left: Schema, right: Schema) -> Schema:
    """FOLD: first values of the shared attributes as `name_1`, then the last values of all under their own names."""
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
