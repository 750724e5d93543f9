"""A rival: an engine as one would write it first, an object for each fork of a run. Foretell is not used here.

A run is never changed: an event that it takes makes another one, whose events are a linked list with a shared
beginning; a match is an object with the list's last node. Runs are kept by symbol and looked at one by one. A query is
three conditions. It imports nothing of its package, so that it can be compiled alone, as the engine is.
"""

from __future__ import annotations

from collections.abc import Sequence


class Node:
    """An event of a run, and the one before it."""

    def __init__(self, event: int, before: Node | None) -> None:
        self.event = event
        self.before = before


class Run:
    """What the conditions read, and the last event."""

    def __init__(self, start: int, total: float, count: float, highest: float, volume: int, last: Node) -> None:
        self.start = start
        self.total = total
        self.count = count
        self.highest = highest
        self.volume = volume
        self.last = last


class Match:
    """A match, by its last event."""

    def __init__(self, start: int, last: Node) -> None:
        self.start = start
        self.last = last

    def lineage(self) -> list[int]:
        """The numbers of its events, in the order of the stream."""
        found: list[int] = []
        node: Node | None = self.last
        while node is not None:
            found.append(node.event)
            node = node.before
        found.reverse()
        return found


class Query:
    """The conditions of Query 3; others override them. `skips`: whether an event that fits may be passed over."""

    def __init__(self, within: int, skips: bool = False) -> None:
        self.within = within
        self.skips = skips

    def begins(self, price: float, volume: int) -> bool:
        return volume > 1_000

    def takes(self, run: Run, price: float, volume: int) -> bool:
        return price > run.total / run.count

    def ends(self, run: Run, price: float, volume: int) -> bool:
        return volume < 0.8 * run.volume


class Highest(Query):
    """The max variant."""

    def takes(self, run: Run, price: float, volume: int) -> bool:
        return price > run.highest


class Letters(Query):
    """Any A's, and a B."""

    def begins(self, price: float, volume: int) -> bool:
        return volume == 1

    def takes(self, run: Run, price: float, volume: int) -> bool:
        return volume == 1

    def ends(self, run: Run, price: float, volume: int) -> bool:
        return volume == 2


def query_of(name: str, within: int) -> Query:
    """avg, max or letters. Raises KeyError."""
    if name == "letters":
        return Letters(within, True)
    return {"avg": Query(within), "max": Highest(within)}[name]


class Naive:
    """The engine. `publish` gives the matches of a batch."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.runs: dict[str, list[Run]] = {}

    def publish(self, times: Sequence[int], rows: Sequence[tuple[str, float, int]]) -> list[Match]:
        found: list[Match] = []
        query = self.query
        for time, (name, price, volume) in zip(times, rows):
            kept: list[Run] = []
            oldest = time - query.within
            for run in self.runs.get(name, []):
                if run.start < oldest:
                    continue
                if query.ends(run, price, volume):
                    found.append(Match(run.start, Node(time, run.last)))
                if query.takes(run, price, volume):
                    last = Node(time, run.last)
                    highest = max(run.highest, price)
                    kept.append(Run(run.start, run.total + price, run.count + 1.0, highest, volume, last))
                    if query.skips:
                        kept.append(run)
                else:
                    kept.append(run)
            if query.begins(price, volume):
                kept.append(Run(time, price, 1.0, price, volume, Node(time, None)))
            self.runs[name] = kept
        return found
