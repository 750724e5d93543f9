"""What the kernel needs of an engine, and nothing more, so that a test can put a small one in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..events import Disorder, StreamDefinition
from ..language.subscription import SubscriptionDefinition


class EngineResult(Protocol):
    """One result of the engine; `line()` is its form for the outside."""

    @property
    def subscription(self) -> str: ...

    def line(self) -> dict[str, Any]: ...


class EngineAnswer(Protocol):
    """What the engine was asked; `line()` is its form for the outside."""

    def line(self) -> dict[str, Any]: ...


class EnginePort(Protocol):
    """An engine. What it refuses, it refuses with a ForetellError and unchanged.

    Results may be made while they are iterated over, and their number is not asked for: it can exceed every integer.
    """

    @property
    def streams(self) -> Mapping[str, StreamDefinition]: ...

    @property
    def subscriptions(self) -> Mapping[str, SubscriptionDefinition]: ...

    @property
    def now(self) -> int | None: ...

    def add_stream(
        self, name: str, attributes: Mapping[str, str], key: str | None = None, disorder: Disorder = "arrival"
    ) -> Any: ...

    def subscribe(
        self,
        name: str,
        *,
        language: str,
        query: str,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: dict[str, Any] | None = None,
    ) -> Any: ...

    def unsubscribe(self, name: str) -> Any: ...

    def publish(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Iterable[EngineResult]: ...

    def check(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        """Raise what `publish` would raise; once it does not, the batch can be published in pieces of any length."""
        ...

    def reset_time(self, stream: str, time: int | None) -> Sequence[Iterable[EngineResult]]:
        """`now` is this time again, and what reads the stream begins anew; what is told of what has ended."""
        ...

    def probability(self, name: str, key: Sequence[Any], within: int | str | None = None) -> EngineAnswer:
        """How likely the next match of a key is; nothing changes by it."""
        ...

    @property
    def failures(self) -> list[Any]:
        """Subscriptions that a mistake of the engine has suspended: names, references and exceptions. To be emptied."""
        ...

    def statistics(self) -> Mapping[str, Any]: ...
