"""The trie behind the contract of executors: one machine for all chains of words on a stream.

Subscriptions join and leave at any time.

Here: the symbols of an event that words have, and the subscribers of its completions. Not here: the trie (trie), how a
subscription joins (machine_plan).
"""

from __future__ import annotations

from typing import Any, cast, final

from mypy_extensions import i64

from ...matches.completions import Audience, Completions, Everybody
from ...program.account import UNLIMITED, Account
from ...program.target import Target
from ..contract import EVERY_EVENT, BySymbols, Executor, Interest, Member
from ..event_span import NO_EVENT, EventSpan
from . import dump
from .terms import Term
from .trie import Fired, WordTrie


@final
class Ending(Member):
    """The subscriptions whose whole chain is this term; None until a snapshot is loaded."""

    __slots__ = ("term",)

    def __init__(self, target: Target, term: Term | None) -> None:
        super().__init__(target)
        self.term = term


@final
class SequenceTrie(Executor, BySymbols):
    """The machine. A later member is another generation, so that subscriptions may join at any time.

    `again`: until a snapshot is loaded, its endings by the numbers of their terms. `names` of symbols: while loading,
    the present symbol for each written one; while dumping, the opposite.
    """

    def __init__(self) -> None:
        super().__init__(Account(UNLIMITED, 0), [])
        self.interest = Interest(-1, EVERY_EVENT)
        self.words = WordTrie()
        self.spelled: dict[int, int] = {}  # symbols that words have, with the number of their places
        self.again: dict[int, Ending] = {}
        self.names: dict[int, int] = {}

    def audience(self) -> Audience:
        return Everybody(self._targets, True)

    def _targets(self) -> list[Target]:
        endings = [cast(Ending, term.target) for term in dump.all_terms(self.words) if term.target is not None]
        return [ending.target for ending in endings]

    def count(self, symbols: list[int], times: int) -> None:
        """Add to the number of places of each of the symbols."""
        for symbol in symbols:
            self.spelled[symbol] = self.spelled.get(symbol, 0) + times
            if not self.spelled[symbol]:
                del self.spelled[symbol]

    def take_span(self, span: EventSpan, found: Completions) -> None:
        span.at = NO_EVENT
        spelled = self.spelled
        own = [symbol for symbol in span.symbols if symbol in spelled]
        if len(own) == 0:
            return
        fired: list[Fired] = []
        self.words.take(own, span.position + 1, (span.items[0], span.times[0]), fired)
        for each in fired:
            found.serve(Audience([cast(Ending, each.term.target).target], True))
            found.add(each)

    def clear(self) -> None:
        """Drop all counts; the members still leave one by one."""

    def forget(self, time: i64, position: i64, places: dict[Any, int]) -> int:
        return self.words.terms

    def statistics(self) -> dict[str, int]:
        return {"terms": self.words.terms}

    def check_invariants(self) -> None:
        dump.check_invariants(self.words)
        for term in dump.all_terms(self.words):
            assert (term.ends > 0) == (term.target is not None)

    def order(self, symbols: list[int]) -> None:
        self.names = {symbol: name for name, symbol in enumerate(dict.fromkeys(symbols))}

    def dump(self) -> Any:
        return dump.dump(self.words, self.names)

    def load(self, data: Any) -> None:
        self.words, terms = dump.load(data, self.names)
        for number, ending in self.again.items():
            ending.term = terms[number]
            terms[number].target = ending
        self.again, self.names = {}, {}
