"""The results of a call to an engine with disorder: revised ones, and those of several segments in order.

Here: reading them as one sequence, and what tells published ones apart. Not here: making a match of columns (results),
which results there are (readers).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final, overload

from ...events.schema import Row, Value
from ..executors.revising import Revision
from ..executors.trace import MASK
from ..match import Failed, Match
from ..matches.result_rows import ResultRows
from ..matches.result_table import ResultTable, names_of, table_of
from ..matches.sources import contributed
from ..notices import Finality
from ..results import Results
from ..subscribing.subscriber import ResultIds, Subscriber

FINAL: Final = "final\0"


def salt_of(subscriber: Subscriber) -> int:
    """What tells the published results of a subscription from equal ones of another."""
    return int.from_bytes(hashlib.blake2b(subscriber.identity().encode(), digest_size=8).digest(), "big") & int(MASK)


@final
class RevisedResults(Sequence[Match]):
    """Results that may be withdrawn, and withdrawals, in the order in which they were found; made on access."""

    def __init__(self, result_ids: ResultIds) -> None:
        self.result_ids = result_ids
        self.entries: list[tuple[Subscriber, Revision | Match]] = []
        self.inserted = 0
        self.failures: list[Failed] = []  # subscriptions that a defect of this program has suspended

    def add(self, subscriber: Subscriber, revision: Revision) -> None:
        self.entries.append((subscriber, revision))
        self.inserted += revision[0]

    def tell(self, subscriber: Subscriber, time: int, key: Row | None = None) -> None:
        """Results of a subscription before this time are final; with a key, those of that key alone."""
        named: dict[str, Value] | None = None
        if key is not None:
            source = subscriber.revised().sources[0]
            named = {source.schema.names[at]: value for at, value in zip(source.key, key)}
        identity = self.result_ids.of(subscriber).id(FINAL if key is None else f"{FINAL}{key!r}", time, 0)
        notice = Finality(identity, time, named)
        self.report(subscriber, Match(subscriber.name, identity, time, time, None, {}, notice=notice))

    def report(self, subscriber: Subscriber, made: Match) -> None:
        """A result that is no match."""
        self.entries.append((subscriber, made))

    def enter(self, rows: ResultRows) -> None:
        """Add them to the rows of a table."""
        for subscriber, entry in self.entries:
            if isinstance(entry, Match):
                rows.report(entry, subscriber)
            elif not rows.add(subscriber, entry[1], not entry[0]):
                rows.report(self._match(subscriber, entry), subscriber)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Match]:
        for subscriber, entry in self.entries:
            yield entry if isinstance(entry, Match) else self._match(subscriber, entry)

    @overload
    def __getitem__(self, index: int) -> Match: ...

    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...

    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        subscriber, entry = self.entries[index]
        return entry if isinstance(entry, Match) else self._match(subscriber, entry)

    def _match(self, subscriber: Subscriber, revision: Revision) -> Match:
        inserted, source = revision
        matched = source.one()
        return Match(
            subscriber.name,
            self.result_ids.of(subscriber).id("", matched.trace, 0),
            matched.start,
            matched.end,
            contributed(matched) if subscriber.shows_lineage() else None,
            dict(zip(subscriber.form.schema.names, matched.values, strict=True)),
            lifetime=matched.lifetime,
            withdrawn=not inserted,
        )


@final
class JoinedResults(Sequence[Match]):
    """Results one after the other."""

    def __init__(self, parts: list[Results | RevisedResults]) -> None:
        self.parts = parts
        self.known: Mapping[str, Subscriber] | None = None  # the engine's, for columns

    def columns(self, subscriptions: str | Sequence[str] = ()) -> ResultTable:
        """As that of Results; withdrawn results are rows of the kind `retraction`."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Results):
            return self.parts[0].columns(subscriptions)
        names = names_of(subscriptions)
        rows = ResultRows(frozenset(names), self.parts[0].result_ids if self.parts else ResultIds())
        for part in self.parts:
            part.enter(rows)
        return table_of(rows, names, self.known)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[Match]:
        for part in self.parts:
            yield from part

    def expanded(self) -> Iterator[Match]:
        """All results, with each compressed one replaced by the matches that it stands for."""
        for part in self.parts:
            yield from part.expanded() if isinstance(part, Results) else part

    @overload
    def __getitem__(self, index: int) -> Match: ...

    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...

    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        upto = [0]
        for part in self.parts:
            upto.append(upto[-1] + len(part))
        at = index + upto[-1] if index < 0 else index
        if not 0 <= at < upto[-1]:
            raise IndexError(f"result {index} of {upto[-1]}")
        number = bisect_right(upto, at) - 1
        return self.parts[number][at - upto[number]]
