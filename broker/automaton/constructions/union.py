"""UNION: the fragments of both branches, side by side; their results are one bag.

Sequence and iteration distribute over a union on their left, because each left event is composed separately, so the
branches stay separate. They do not distribute over one on their right, where the next event is the earliest of all
branches; such a union is resubscribed.
"""

from __future__ import annotations

from ..fragment import Fragment


def union(left: list[Fragment], right: list[Fragment]) -> list[Fragment]:
    return left + right
