"""What a rerun needs of an engine of its own: subscriptions, events, and the parts that keep partial matches.

`Engine` is one. Reasons cannot name it, since it answers `why` by them: it gives itself to make one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ...events.schema import Row, Schema
from ...events.stream import StreamDefinition
from ...language.subscription import SubscriptionDefinition
from ..disorder.reordering import Reordering
from ..dispatch.dispatcher import Dispatcher
from ..options import Options
from ..program.program import Program
from ..subscribing.catalog import Catalog


class FreshEngine(Protocol):
    """The calls of `Engine` of the same names; their results are read by `expanded`."""

    catalog: Catalog
    program: Program
    runtime: Dispatcher
    disorder: Reordering | None
    events: int

    @property
    def streams(self) -> Mapping[str, StreamDefinition]: ...

    @property
    def subscriptions(self) -> Mapping[str, SubscriptionDefinition]: ...

    @property
    def published(self) -> Mapping[str, Schema]: ...

    def declare(self, definition: StreamDefinition) -> None: ...

    def subscribe(
        self, name: str, language: str, query: str, lineage: bool, report: str | None = None, *, results: str | None
    ) -> None: ...

    def publish(
        self, stream: str, times: list[int], rows: list[Row], ids: list[int] | None, starts: list[int]
    ) -> Any: ...

    def retract(self, id: int) -> Any: ...

    def update(
        self, name: str, insert: Sequence[str], delete: Sequence[str], start: int | None, end: int | None
    ) -> Any: ...

    def declare_gap(self, stream: str, first: int, last: int | None) -> Any: ...

    def punctuate(self, time: int, stream: str | None, where: str | None) -> Any: ...

    def finish(self) -> Any: ...


MakeEngine: TypeAlias = Callable[[Options], FreshEngine]
"""Makes an empty engine."""
