"""All subscriptions that are chains of words, counted together: a trie of their words, stepped by each event.

A word is contiguous, so that where it ends says where it began; and what may follow at any later time is one number,
the tuples so far. An event therefore steps the words that the newest events are in the middle of, and completes some;
each completed word looks only at terms whose parent has a tuple (P-ToPSS notes, 3.3). Two traps: what a word continues
must have ended before that word began, hence totals "as of" a position; and who came later must not see what was
counted before, hence `since`.

Here: subscribing, unsubscribing, events. Not here: the structures (terms), saving and checking them (dump);
variables, conditions and windows, which words do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ..matches import Matched, MatchSource, matched_of
from .items import Item, Items
from .terms import NEVER, NOWHERE, Link, Term, Word, ends_of

SPARED: Final = 8192  # so many items, and two for each term begun, are kept before they are asked for


@final
@mypyc_attr(acyclic=True)
class Fired(MatchSource):
    """What one event has completed of a term: `count` tuples, of any size."""

    __slots__ = ("_link", "_previous", "_tick", "count", "items", "term")

    def __init__(self, term: Term, count: int, tick: i64, previous: i64, link: Link, items: Items) -> None:
        self.term = term
        self.count = count
        self._tick = tick
        self._previous = previous
        self._link = link
        self.items = items

    def amount(self) -> int | None:
        return self.count

    def all(self) -> Iterator[Matched]:
        yield self.one()

    def one(self) -> Matched:
        taken: list[Any] = self.witness()
        return matched_of([(operand, item, time) for operand, (item, time) in enumerate(taken)], ())

    def arbitrary(self) -> bool:
        return True

    def witness(self) -> list[Item]:
        """The items of one of the tuples, in the order of the words: that with the latest events. O(its length)."""
        found: list[Item] = []
        for end, length in reversed(ends_of(self.term, self._tick, self._previous, self._link)):
            found += self.items.of_word(end, length)
        return found


@final
class WordTrie:
    """Symbols are numbers that the caller gives to primitives: equal primitives have equal numbers."""

    def __init__(self) -> None:
        self.root = Word(None, NOWHERE, 0)
        self.position: i64 = NEVER  # of the newest event
        self.tick: i64 = 0  # its number among those taken: what is said of neighbours holds for both
        self.cursors: list[Word] = []  # the words in the middle of which the newest events are
        self.items = Items({}, 1)
        self.begun: list[Term] = []  # terms that remember a tuple, and some that were removed since the last tidying
        self._longest: i64 = 1
        self.terms = 0
        self._origin: Term | None = None

    def add(self, words: list[list[int]]) -> Term:
        """The term of a chain of words, which sees tuples whose first event is yet to come. O(its length).

        Its first word belongs to a generation: an origin, which has one empty tuple since the position of the newest
        event, so that a word counts only if it began after that. A term of an older generation is shared as long as
        nothing tells them apart: it has no tuple, and the newest events are not in the middle of one of its. All that
        is added between two events is one generation, so loading before the first event shares everything.
        Raises ValueError if there is no word or an empty one.
        """
        if not words or not all(words):
            raise ValueError("expected words, each of at least one symbol, found an empty one")
        term = self._first(self.word(words[0]))
        for i in range(1, len(words)):
            word = self.word(words[i])
            known = term.behind(word)
            term = known if known is not None else self.enter(term.extend(word))
        term.ends += 1
        return term

    def remove(self, term: Term) -> None:
        """Undo one add; what nobody else needs goes. O(its length)."""
        assert term.ends > 0
        term.ends -= 1
        while term.idle():
            parent = term.parent
            assert parent is not None
            word = term.word
            parent.cut(id(word))
            self._deactivate(term)
            self.terms -= 1
            word.terms -= 1
            if word.first is term:
                word.first = None
            self._prune(word)
            if parent.parent is None:
                return
            term = parent

    def take(self, symbols: list[int], position: i64, item: Item, fired: list[Fired]) -> None:
        """One event: the different symbols that it satisfies, and its number in the stream, greater than the last.

        Appends what it completes of terms that are whole subscriptions, each term once. The order of what is appended
        depends on the order of adds, removes and events only.
        O(words that go on + terms that fire) as a rule.
        """
        if position != self.position + 1:
            self.cursors = []
        self.position = position
        self.tick += 1
        items = self.items
        items.new.append(item)
        if len(items.new) > SPARED + len(items.old) + 2 * len(self.begun):
            self.tidy()
        cursors = self.cursors
        goes_on: list[Word] = []
        root = self.root
        for symbol in symbols:
            word = root.next(symbol)
            if word is not None:
                self._complete(word, goes_on, fired)
            for cursor in cursors:
                word = cursor.next(symbol)
                if word is not None:
                    self._complete(word, goes_on, fired)
        self.cursors = goes_on

    def _complete(self, word: Word, goes_on: list[Word], fired: list[Fired]) -> None:
        """The newest event is the last of a word: fire the terms whose parents have tuples from before its first."""
        if word.kid is not None or word.kids is not None:
            goes_on.append(word)
        active = word.active
        if active is None:
            return
        tick: i64 = self.tick
        before: i64 = tick - word.depth
        for i in range(len(active)):  # not those that come while it runs: their parents have no tuple from before
            term = active[i]
            parent = term.parent
            assert parent is not None
            if parent.last <= before:
                count = parent.total
                previous = parent.last
            elif parent.past is None:
                count = parent.earlier
                previous = parent.earlier_last
            else:
                version = parent.at(before)
                count = version.total
                previous = version.last
            if count == 0:
                continue
            total = term.total
            if term.reach > 0:
                if total == 0:
                    self.begun.append(term)
                    for child in term.following():
                        self._activate(child)
                elif term.past is not None or term.last > tick - term.reach:
                    term.keep(tick)
                term.earlier_last = term.last
                term.earlier_previous = term.previous
                term.previous = previous
                if term.length > 2:
                    term.earlier_link = term.link
                    term.link = parent.link_at(before)
            term.earlier = total
            term.total = total + count
            term.last = tick
            if term.ends > 0:
                link: Link = None
                if term.length > 2:
                    link = term.link if term.reach > 0 else parent.link_at(before)
                fired.append(Fired(term, count, tick, previous, link, self.items))

    def tidy(self) -> None:
        """Forget the items that no witness can need. O(terms with children and tuples), once in more events."""
        tick: i64 = self.tick
        needed: set[int] = set(range(tick - self._longest + 1, tick + 1))
        self.begun = [term for term in self.begun if term.active and term.reach > 0]
        for term in self.begun:
            versions = [term.now()]
            if term.last > tick - term.reach:  # somebody may ask for what was before that
                versions += [term.before(), *(term.past or ())]
            for version in versions:
                if version.total > 0:
                    for end, length in ends_of(term, version.last, version.previous, version.link):
                        needed.update(range(end - length + 1, end + 1))
        self.items = self.items.only(needed)

    def _first(self, word: Word) -> Term:
        known = word.first
        if known is not None and self._untouched(known):
            return known
        origin = self._origin
        if origin is None or origin.last != self.tick:
            origin = self._origin = Term(None, self.root)
            origin.begin(self.tick)
        return self.begin(origin, word)

    def begin(self, origin: Term, word: Word) -> Term:
        """A new term of one word. Origins do not know their terms, which are found by their words."""
        term = word.first = self.enter(Term(origin, word))
        return term

    def enter(self, term: Term) -> Term:
        """A new term is counted, and active if its parent has a tuple."""
        self.terms += 1
        term.word.terms += 1
        parent = term.parent
        assert parent is not None
        if parent.total > 0:
            self._activate(term)
        return term

    def _untouched(self, first: Term) -> bool:
        """Whether a term of one word is, but for `since`, as if it were new. O(cursors)."""
        origin = first.parent
        assert origin is not None
        if first.total > 0:
            return False
        if origin.last == self.tick:
            return True
        within = first.word.prefixes()
        return not any(self.tick - c.depth >= origin.last and c in within for c in self.cursors)

    def word(self, symbols: list[int]) -> Word:
        """The node of a word, made where it is missing."""
        word = self.root
        for symbol in symbols:
            known = word.next(symbol)
            if known is None:
                known = Word(word, symbol, word.depth + 1)
                word.grow(symbol, known)
            word = known
        self._longest = max(self._longest, word.depth)
        return word

    def _prune(self, word: Word) -> None:
        while word.idle():
            parent = word.parent
            if parent is None:
                return
            parent.cut(word.symbol)
            if word in self.cursors:
                self.cursors.remove(word)
            word = parent

    def _activate(self, term: Term) -> None:
        active = term.word.active
        if active is None:
            active = term.word.active = []
        term.slot = len(active)
        active.append(term)

    def _deactivate(self, term: Term) -> None:
        active = term.word.active
        if active is None or term.slot == NOWHERE:
            return
        moved = active.pop()
        if moved is not term:
            active[term.slot] = moved
            moved.slot = term.slot
        if not active:
            term.word.active = None
        term.slot = NOWHERE
