"""Composite subscriptions at work: the events of a stream, by what BY parts them, through machines and words.

A lane is one stream with one BY. Each of its parts counts its events, which decides what is adjacent, and has the
partial matches of the machines that have any there. What an event does not concern it does not touch: a machine is
asked only for events that one of its primitives wants. Chains of contiguous words without variables or conditions, of
which only completions are reported, are not machines but share one trie.

Here: one event on its way through a lane. Not here: who is in which lane (composites), how tuples are counted (tuples,
words).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...account import FAILED, NOT_SUSPENDED, reason_of
from ...composed import Composed
from ...executors.sequence_trie.trie import Fired, Words
from ...executors.tuple_counts import Machine, Partition
from ...index.spaces import Key
from ...results import Results
from ...target import Target
from ...watcher import Follower, Watcher

SWEEP_MIN: Final = 1_024  # events between two looks for what is of no use any more


@final
class Matcher:
    """A machine, and whom it serves: equal subscriptions that came before it had taken an event. `hits` are the
    operands that the current event satisfies. With a `follower` it is that of a part of a subscription, and serves
    nobody: its completions are told to that one and make no results."""

    def __init__(self, machine: Machine, target: Target) -> None:
        self.machine = machine
        self.target = target
        self.hits: list[int] = []
        self.watchers: list[Watcher] | None = None
        self.follower: Follower | None = None
        self.taken = False
        self.lost: i64 = 0  # how often a limit was hit, and how often when that was last told: whenever it has doubled
        self.told: i64 = 0
        self.suspended: i64 = NOT_SUSPENDED  # why
        self.since: i64 = 0  # when


@final
class Reader:
    """An operand of a machine."""

    def __init__(self, matcher: Matcher, operand: int) -> None:
        self.matcher = matcher
        self.operand = operand


@final
class Part:
    """The events with one value of BY."""

    def __init__(self) -> None:
        self.position: i64 = 0
        self.partitions: dict[Matcher, Partition] = {}


@final
class Lane:
    """The machines and words of one stream and BY, the attributes at `positions`."""

    def __init__(self, stream: str, positions: tuple[int, ...]) -> None:
        self.stream = stream
        self.positions = positions
        self.readers: dict[int, list[Reader]] = {}  # by symbol
        self.words = Words()
        self.spelled: dict[int, int] = {}  # symbols that words have, and in how many places
        self.parts: dict[Key, Part] = {}
        self._until_sweep = SWEEP_MIN

    def empty(self) -> bool:
        """Whether nobody reads it."""
        return not self.readers and not self.spelled

    def take(self, symbols: list[int], row: Row, time: i64, item: Any, index: int, results: Results) -> list[Target]:
        """An event of the stream, and the symbols that it satisfies; what it completes goes to the results.

        Returns the targets that feed streams, once for each of the results' newest blocks that is theirs.
        """
        positions = self.positions
        key: Key = ()
        if len(positions) > 0:
            key = tuple([row[position] for position in positions])
            if None in key:
                return []
        part = self.parts.get(key)
        if part is None:
            if len(symbols) == 0:
                return []
            part = self.parts[key] = Part()
        part.position += 1
        fed: list[Target] = []
        if len(symbols) == 0:
            return fed
        if len(self.spelled) > 0:
            self._spell(symbols, part.position, item, time, index, results, fed)
        touched: list[Matcher] = []
        for symbol in symbols:
            readers = self.readers.get(symbol)
            if readers is not None:
                for reader in readers:
                    matcher = reader.matcher
                    if len(matcher.hits) == 0:
                        touched.append(matcher)
                    matcher.hits.append(reader.operand)
        for matcher in touched:
            if matcher.suspended != NOT_SUSPENDED:
                matcher.hits = []
                continue
            matcher.machine.account.earn()
            try:
                if matcher.follower is None:
                    self._step(matcher, part, row, time, item, index, results, fed)
                else:
                    self._follow(matcher, matcher.follower, part, row, time, item)
            except Exception as error:  # whatever it is: it is this machine's, and stays its own
                self._suspend(matcher, error, time, index, results)
        self._until_sweep -= 1
        if self._until_sweep < 0:
            self._sweep(time)
        return fed

    def _suspend(self, matcher: Matcher, error: Exception, time: i64, index: int, results: Results) -> None:
        """The machine has raised this: give it up, and tell whom it serves. O(parts)."""
        matcher.suspended = reason_of(error)
        matcher.since = time
        matcher.taken = True
        matcher.hits = []
        self.drop(matcher)
        if matcher.suspended == FAILED:
            results.failures.append((index, [matcher.target], error))
        if matcher.follower is None:
            results.suspend(index, matcher.target, int(matcher.suspended))

    def _step(
        self,
        matcher: Matcher,
        part: Part,
        row: Row,
        time: i64,
        item: Any,
        index: int,
        results: Results,
        fed: list[Target],
    ) -> None:
        hits = matcher.hits
        matcher.hits = []
        partition = part.partitions.get(matcher)
        if partition is None:
            beginners = matcher.machine.beginners
            if not _begins(beginners, hits):
                return
            partition = part.partitions[matcher] = matcher.machine.partition()
            matcher.taken = True
        if len(hits) > 1:
            hits.sort()
        for completion in partition.take(hits, row, time, part.position, item):
            results.targets.append(matcher.target)
            results.compose(index, Composed(completion, None, matcher.machine.tuples))
            if matcher.target.feeds is not None:
                fed.append(matcher.target)
            if matcher.watchers is not None:
                for watcher in matcher.watchers:
                    watcher.completed()
        if matcher.watchers is not None:
            for watcher in matcher.watchers:
                watcher.touched()
        if partition.lost > 0:
            matcher.lost += partition.lost
            partition.lost = 0
            if matcher.lost >= 2 * matcher.told:
                matcher.told = matcher.lost
                results.targets.append(matcher.target)
                results.compose(index, Composed(None, None, False))

    def _follow(self, matcher: Matcher, follower: Follower, part: Part, row: Row, time: i64, item: Any) -> None:
        hits = matcher.hits
        matcher.hits = []
        if not follower.admits(time):
            return
        partition = part.partitions.get(matcher)
        if partition is None:
            if not _begins(matcher.machine.beginners, hits):
                return
            partition = part.partitions[matcher] = matcher.machine.partition()
        if len(hits) > 1:
            hits.sort()
        for completion in partition.take(hits, row, time, part.position, item):
            follower.completed(completion)
        follower.touched()

    def _spell(
        self, symbols: list[int], position: i64, item: Any, time: i64, index: int, results: Results, fed: list[Target]
    ) -> None:
        spelled = [symbol for symbol in symbols if symbol in self.spelled]
        if len(spelled) == 0:
            return
        found: list[Fired] = []
        self.words.take(spelled, position, (item, int(time)), found)
        for fired in found:
            target = fired.term.target
            assert isinstance(target, Target)
            results.targets.append(target)
            results.compose(index, Composed(None, fired, False))
            if target.feeds is not None:
                fed.append(target)

    def _sweep(self, time: i64) -> None:
        """Let go of partitions and parts of no use. O(partitions), once in as many events."""
        kept = 0
        for key in list(self.parts):
            part = self.parts[key]
            for matcher in list(part.partitions):
                if part.partitions[matcher].empty(time, part.position + 1):
                    del part.partitions[matcher]
            kept += len(part.partitions)
            if not part.partitions and len(self.positions) > 0:
                del self.parts[key]
        self._until_sweep = SWEEP_MIN + 2 * kept

    def drop(self, matcher: Matcher) -> None:
        """Forget a machine's partial matches. O(parts)."""
        for part in self.parts.values():
            part.partitions.pop(matcher, None)


def _begins(beginners: int, hits: list[int]) -> bool:
    for operand in hits:  # noqa: SIM110  a generator here would allocate on the hot path
        if beginners >> operand & 1:
            return True
    return False
