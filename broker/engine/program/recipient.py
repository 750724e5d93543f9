"""Who gets the results of a target: what results need to know of a subscription.

Not here: subscriptions, which are recipients and know how they are run (subscribing.subscriber).
"""

from __future__ import annotations

from mypy_extensions import i64, mypyc_attr

from ...events.schema import Schema
from ...language.marked_literals import Literals


class ResultForm:
    """What the results of alike subscriptions have in common: the stream where they are published, their schema, the
    names of a machine's `operands`, and whether they have their `lineage` where a subscription does not say."""

    def __init__(self, publish: str | None, schema: Schema, operands: tuple[str, ...], lineage: bool) -> None:
        self.publish = publish
        self.schema = schema
        self.operands = operands
        self.lineage = lineage


@mypyc_attr(acyclic=True)  # nothing that it refers to knows recipients
class Recipient:
    """A subscription, or one of its further automata if `branch` is not 0. It gets the matches of runs that began after
    `since`. `told`: what its results are like."""

    __slots__ = ("branch", "lineage", "literals", "name", "since", "told")

    def __init__(
        self, name: str, told: ResultForm, literals: Literals, lineage: bool | None, since: i64, branch: i64
    ) -> None:
        self.name = name
        self.told = told
        self.literals = literals
        self.lineage = lineage
        self.since: i64 = since
        self.branch: i64 = branch

    def shows_lineage(self) -> bool:
        """Whether its results have their lineage, for a subscription with a machine."""
        return self.told.lineage if self.lineage is None else self.lineage

    def identity(self) -> str:
        """The part of an id that does not depend on the match. It is the same wherever and whenever the match is
        found."""
        raise AssertionError
