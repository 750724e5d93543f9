"""The trie as the dispatcher knows it: one machine for all chains of words on a stream, which come and go at any time.

Here: which of an event's symbols words have, and who is served by what it completes. Not here: the trie (trie), how a
subscription joins (machine_plan).
"""

from __future__ import annotations

from typing import Any, cast, final

from mypy_extensions import i64

from ...account import UNLIMITED, Account
from ...target import Target
from ..completions import Audience, Completions
from ..contract import Executor, Member
from ..matches import Item
from . import dump
from .terms import Term
from .trie import Fired, WordTrie


@final
class Ending(Member):
    """Those whose whole chain is this term; None while a snapshot is yet to be loaded."""

    __slots__ = ("term",)

    def __init__(self, target: Target, term: Term | None) -> None:
        super().__init__(target)
        self.term = term


@final
class SequenceTrie(Executor):
    """Whoever joins later is another generation, so that anybody may join at any time. `again`: while a snapshot is
    yet to be loaded, its endings by the numbers of their terms. `names` of symbols: by then those of now by those that
    were written, while it is dumped the opposite."""

    def __init__(self) -> None:
        super().__init__(Account(UNLIMITED, 0), [], True, True)
        self.words = WordTrie()
        self.spelled: dict[int, int] = {}  # symbols that words have, and in how many places
        self.again: dict[int, Ending] = {}
        self.names: dict[int, int] = {}

    @property
    def method(self) -> str:
        return "a trie of contiguous words"

    def idle(self) -> bool:
        return not self.spelled

    def audience(self) -> Audience:
        """All, for word of a failure. O(terms)."""
        endings = [cast(Ending, term.target) for term in dump.all_terms(self.words) if term.target is not None]
        return Audience([ending.target for ending in endings], True)

    def count(self, symbols: list[int], times: int) -> None:
        """So many more places have each of the symbols."""
        for symbol in symbols:
            self.spelled[symbol] = self.spelled.get(symbol, 0) + times
            if not self.spelled[symbol]:
                del self.spelled[symbol]

    def spell(self, symbols: list[int], time: i64, position: i64, item: Item, found: Completions) -> None:
        spelled = self.spelled
        own = [symbol for symbol in symbols if symbol in spelled]
        if len(own) == 0:
            return
        fired: list[Fired] = []
        self.words.take(own, position, (item, int(time)), fired)
        for each in fired:
            found.serve(Audience([cast(Ending, each.term.target).target], True))
            found.add(each)

    def clear(self) -> None:
        """What was counted is of no use any more, but those who are there still leave one by one."""

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
