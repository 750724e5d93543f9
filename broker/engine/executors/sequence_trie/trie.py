"""The trie of all subscriptions that are chains of words: each event steps it, and it counts tuples.

A word is contiguous, so its end determines its beginning; and the tuples that a later word may continue are one number,
the total so far. So an event steps the words that contain the newest events, and completes some of them; each completed
word visits only terms whose parent has a tuple (P-ToPSS notes, 3.3). There are two traps. A word continues only tuples
that ended before the word began, hence totals "as of" a position. A later subscription must not see earlier tuples,
hence `since`.

Here: subscribing, unsubscribing, events. Not here: the structures (terms), saving and checking them (dump); variables,
conditions and windows, which words do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ...matches.sources import Matched, MatchSource, matched_of
from .items import Item, Items
from .terms import NEVER, NOWHERE, Link, Term, Word, ends_of

SPARED: Final = 8192  # items that are kept before a tidying, besides two for each term with a tuple


@final
@mypyc_attr(acyclic=True)
class Fired(MatchSource):
    """The completions of one event for a term: `count` tuples, of any size."""

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
        """The items of one of the tuples, in the order of the words: the one with the latest events. O(its length)."""
        found: list[Item] = []
        for end, length in reversed(ends_of(self.term, self._tick, self._previous, self._link)):
            found += self.items.of_word(end, length)
        return found


@final
class WordTrie:
    """The trie. The caller numbers the primitives with symbols: equal primitives have equal symbols."""

    def __init__(self) -> None:
        self.root = Word(None, NOWHERE, 0)
        self.position: i64 = NEVER  # of the newest event
        self.tick: i64 = 0  # its number among the events taken; neighbours are adjacent in both numbers
        self.cursors: list[Word] = []  # the words that contain the newest events, up to these
        self.items = Items({}, 1)
        self.begun: list[Term] = []  # terms with a tuple, and some that were removed since the last tidying
        self._longest: i64 = 1
        self.terms = 0
        self._origin: Term | None = None

    def add(self, words: list[list[int]]) -> Term:
        """Add a chain of words; returns its term, which sees tuples whose first event comes later. O(its length).

        Its first word belongs to a generation: an origin, which has one empty tuple since the position of the newest
        event, so that a word counts only if it began after that. The term of an older generation is shared while
        nothing distinguishes the two: it has no tuple, and the newest events are not in the middle of one of its
        tuples. All chains added between two events are one generation, so loading before the first event shares
        everything. Raises ValueError if there is no word or an empty one.
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
        """Undo one `add`; drops the parts that nothing else needs. O(its length)."""
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
        """Process an event, given the different symbols that it satisfies.

        `position`: its number in the stream, greater than the last. Appends its completions of terms that are whole
        subscriptions, each term once. Their order depends only on the order of adds, removes and events. Usually
        O(words that continue + terms that fire).
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
        """Complete a word at the newest event: fire the terms whose parents have tuples from before its first event."""
        if word.kid is not None or word.kids is not None:
            goes_on.append(word)
        active = word.active
        if active is None:
            return
        tick: i64 = self.tick
        before: i64 = tick - word.depth
        for i in range(len(active)):  # without the terms added meanwhile: their parents have no tuple from before
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
            if term.last > tick - term.reach:  # a later word may ask for the state before that
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
        """Count a new term; it is active if its parent has a tuple."""
        self.terms += 1
        term.word.terms += 1
        parent = term.parent
        assert parent is not None
        if parent.total > 0:
            self._activate(term)
        return term

    def _untouched(self, first: Term) -> bool:
        """Whether a term of one word is like a new one, except for `since`. O(cursors)."""
        origin = first.parent
        assert origin is not None
        if first.total > 0:
            return False
        if origin.last == self.tick:
            return True
        within = first.word.prefixes()
        return not any(self.tick - c.depth >= origin.last and c in within for c in self.cursors)

    def word(self, symbols: list[int]) -> Word:
        """The node of a word, created if it is missing."""
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
