"""Events as a timeline keeps them: each with its class and its block.

Not here: their order (timeline), nodes (nodes).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row


@final
@mypyc_attr(acyclic=True)
class TimelineEntry:
    """An event and its block, `count` nodes from `first` on in the arena; `finals` of them are results or wait.

    Events of one time are in the order of `order`.
    """

    __slots__ = ("count", "finals", "first", "id", "klass", "order", "row", "stream", "time")

    def __init__(self, stream: i64, time: i64, order: i64, id: i64, row: Row, klass: i64) -> None:
        self.stream = stream
        self.time = time
        self.order = order
        self.id = id
        self.row = row
        self.klass = klass
        self.first: i64 = 0
        self.count: i64 = 0
        self.finals: i64 = 0
