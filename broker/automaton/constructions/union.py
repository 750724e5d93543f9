"""UNION: the fragments of both branches, side by side; their results are one bag.

Sequence and iteration distribute over a union on their left (each left event is composed by itself), so branches just
stay apart; they do not on their right, where the next event is the earliest of all branches: that is resubscribed.
"""

from __future__ import annotations

from ..fragment import Fragment


def union(left: list[Fragment], right: list[Fragment]) -> list[Fragment]:
    return left + right
