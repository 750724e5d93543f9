"""The structures of the trie: words over symbols, and terms, which are chains of words (P-ToPSS notes, 3).

A word is a contiguous run of primitives `a, b, c`; a term is a word behind another term, `w1; w2; w3`. Equal words are
one node of the trie, equal chains one term, for all subscriptions. A term counts its tuples: one number, whatever the
events behind it.

Here: the two structures, and the past that a term stores. Not here: making them, the effect of an event (trie).
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeAlias, TypeVar, final

from mypy_extensions import i64

NEVER: Final = -(1 << 62)  # before any event
FOREVER: Final = 1 << 62
NOWHERE: Final = -1

T = TypeVar("T")

Link: TypeAlias = "tuple[int, Any] | None"
"""Where the earlier words ended, newest first: a number, and the link of those before.

These are tuples of numbers, which the garbage collector stops visiting; there is one for nearly each term that fires.
"""


@final
class Version:
    """The state of a term before an event.

    It has the total, the end of its newest tuple, the end of the word before that tuple's last, and earlier words.
    """

    __slots__ = ("last", "link", "previous", "total", "until")

    def __init__(self, until: i64, total: int, last: i64, previous: i64, link: Link) -> None:
        self.until = until
        self.total = total
        self.last = last
        self.previous = previous
        self.link = link


class Branching(Generic[T]):
    """A node of a tree, with its children by number.

    Most have one child, whose number is `key`: a dictionary for each would take most of the memory.
    """

    __slots__ = ("key", "kid", "kids")

    def __init__(self) -> None:
        self.kid: T | None = None
        self.key = NOWHERE
        self.kids: dict[int, T] | None = None

    def next(self, key: int) -> T | None:
        kid = self.kid
        if kid is not None:
            return kid if self.key == key else None
        kids = self.kids
        return None if kids is None else kids.get(key)

    def grow(self, key: int, new: T) -> None:
        """Add a new child."""
        if self.kids is not None:
            self.kids[key] = new
        elif self.kid is None:
            self.kid = new
            self.key = key
        else:
            self.kids = {self.key: self.kid, key: new}
            self.kid = None

    def cut(self, key: int) -> None:
        """Remove a child."""
        if self.kids is None:
            self.kid = None
            return
        del self.kids[key]
        if len(self.kids) == 1:
            [(self.key, self.kid)] = self.kids.items()
            self.kids = None

    def following(self) -> list[T]:
        if self.kid is not None:
            return [self.kid]
        return [] if self.kids is None else list(self.kids.values())

    def alone(self) -> bool:
        """Whether it has no children."""
        return self.kid is None and self.kids is None


@final
class Word(Branching["Word"]):
    """A node of the trie: the word that leads to it; longer words follow by symbol.

    `terms` counts the terms that end in it; `active` are those of them whose parent has a tuple; `first` is the newest
    one that begins with it.
    """

    __slots__ = ("active", "depth", "first", "parent", "symbol", "terms")

    def __init__(self, parent: Word | None, symbol: int, depth: i64) -> None:
        super().__init__()
        self.parent = parent
        self.symbol = symbol
        self.depth = depth
        self.active: list[Term] | None = None
        self.first: Term | None = None
        self.terms: i64 = 0

    def idle(self) -> bool:
        """Whether no term needs it."""
        return self.terms == 0 and self.alone()

    def prefixes(self) -> list[Word]:
        """The nodes on the way to it, with itself, without the root."""
        found: list[Word] = []
        word: Word = self
        while word.parent is not None:
            found.append(word)
            word = word.parent
        found.reverse()
        return found

    def symbols(self) -> list[int]:
        """The word itself."""
        return [word.symbol for word in self.prefixes()]


@final
class Term(Branching["Term"]):
    """A chain of words, and its number of tuples of events: `total`; the newest of them are at `last`.

    `ends` is the number of subscriptions with exactly this chain, `target` is a value of the caller. The other fields
    are the trie's own. Of the newest tuple a term stores where its last word ended, where the one before did, its
    `previous`, and for longer chains `link`: plain numbers, because most events change many terms. `earlier` has the
    same from before `last`, and `past` older states, as long as a later word may still ask for them: as long as the
    longest word behind this term, its `reach`. A term without children stores totals only.
    """

    __slots__ = (
        "earlier",
        "earlier_last",
        "earlier_link",
        "earlier_previous",
        "ends",
        "last",
        "length",
        "link",
        "number",
        "parent",
        "past",
        "previous",
        "reach",
        "slot",
        "target",
        "total",
        "word",
    )

    def __init__(self, parent: Term | None, word: Word) -> None:
        super().__init__()
        self.parent = parent  # first the fields that each event reads: this is their order in memory
        self.last: i64 = NEVER
        self.total = 0
        self.earlier = 0
        self.past: list[Version] | None = None
        self.reach: i64 = 0
        self.ends: i64 = 0
        self.previous: i64 = NEVER
        self.earlier_last: i64 = NEVER
        self.earlier_previous: i64 = NEVER
        self.length: i64 = 0 if parent is None else parent.length + 1  # in words
        self.link: Link = None
        self.earlier_link: Link = None
        self.word = word
        self.target: object = None
        self.slot: i64 = NOWHERE  # index among its word's active terms
        self.number: i64 = NOWHERE  # in the newest dump

    @property
    def active(self) -> bool:
        return self.slot != NOWHERE

    def since(self) -> int:
        """For a term of one word: the newest event when its generation began."""
        assert self.parent is not None
        return self.parent.last

    def begin(self, since: i64) -> None:
        """Become the empty chain, which has one tuple, the empty one, from an event on."""
        self.total = 1
        self.last = since

    def now(self) -> Version:
        return Version(FOREVER, self.total, self.last, self.previous, self.link)

    def before(self) -> Version:
        """Its state before `last`."""
        return Version(self.last, self.earlier, self.earlier_last, self.earlier_previous, self.earlier_link)

    def at(self, tick: i64) -> Version:
        """Its state as of an event, at most `reach` ago."""
        if self.last <= tick:
            return self.now()
        past = self.past
        found: Version | None = None
        if past is not None:
            for i in range(len(past) - 1, -1, -1):
                if past[i].until <= tick:
                    break
                found = past[i]
        return self.before() if found is None else found

    def link_at(self, tick: i64) -> Link:
        """Where the words before its last one were in the newest tuple as of an event, at most `reach` ago."""
        if self.last <= tick:
            return (self.previous, self.link)
        if self.past is None:
            return (self.earlier_previous, self.earlier_link)
        version = self.at(tick)
        return (version.previous, version.link)

    def keep(self, tick: i64) -> None:
        """Store the state before the last firing, if a later word may ask for it; called before the next firing."""
        oldest = tick - self.reach
        if self.last <= oldest:
            self.past = None
            return
        kept: list[Version] = []
        if self.past is not None:
            kept = [version for version in self.past if version.until > oldest]
        kept.append(self.before())
        self.past = kept

    def behind(self, word: Word) -> Term | None:
        """The term of this one followed by a word."""
        return self.next(id(word))

    def extend(self, word: Word) -> Term:
        """Add a child that does not exist yet."""
        new = Term(self, word)
        self.grow(id(word), new)
        self.reach = max(self.reach, word.depth)
        return new

    def idle(self) -> bool:
        """Whether neither a subscription nor another term needs it."""
        return self.ends == 0 and self.alone()


def ends_of(term: Term, last: i64, previous: i64, link: Link) -> list[tuple[int, int]]:
    """Where the words of a term's tuple end, the last one first, and how long they are."""
    found = [(int(last), int(term.word.depth))]
    parent = term.parent
    if term.length > 1 and parent is not None:
        found.append((int(previous), int(parent.word.depth)))
        while link is not None and parent.parent is not None:
            parent = parent.parent
            found.append((link[0], int(parent.word.depth)))
            link = link[1]
    return found
