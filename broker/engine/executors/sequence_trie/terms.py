"""What words are counted in: a trie of words over symbols, and terms, which are chains of words (P-ToPSS notes, 3).

A word is a contiguous run of primitives `a, b, c`; a term is a word behind another term, `w1; w2; w3`. Equal words are
one node of the trie, equal chains one term, whoever asked for them. A term counts its tuples: one number, whatever the
events behind it.

Here: the two structures, and what a term knows of its past. Not here: who makes them, and what an event does (words).
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeAlias, TypeVar, final

from mypy_extensions import i64

NEVER: Final = -(1 << 62)  # before any event
FOREVER: Final = 1 << 62
NOWHERE: Final = -1

T = TypeVar("T")

Link: TypeAlias = "tuple[int, Any] | None"
"""Where the words before ended, newest first: a number, and the link of those before. Tuples, which the garbage
collector stops visiting when it has seen that they hold numbers only: there is one for nearly each term that fires."""


@final
class Version:
    """What a term was until an event: its total; where the newest of its tuples ended, where the word before that one
    did, and the words before that."""

    __slots__ = ("last", "link", "previous", "total", "until")

    def __init__(self, until: i64, total: int, last: i64, previous: i64, link: Link) -> None:
        self.until = until
        self.total = total
        self.last = last
        self.previous = previous
        self.link = link


class Branching(Generic[T]):
    """What others go on from, by numbers: a node of a tree. Most have one that does, whose number is `key`: a
    dictionary for each would be most of the memory."""

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
        """Add one that is not there yet."""
        if self.kids is not None:
            self.kids[key] = new
        elif self.kid is None:
            self.kid = new
            self.key = key
        else:
            self.kids = {self.key: self.kid, key: new}
            self.kid = None

    def cut(self, key: int) -> None:
        """Forget one."""
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
        """Whether nobody goes on from it."""
        return self.kid is None and self.kids is None


@final
class Word(Branching["Word"]):
    """A node of the trie, whose words go on by symbols: the word that leads to it. `terms` counts the terms that end in
    it; `active` are those of them whose parent has a tuple; `first` is the newest one that begins with it."""

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
        """Whether nobody needs it."""
        return self.terms == 0 and self.alone()

    def prefixes(self) -> list[Word]:
        """The nodes on the way to it, itself included, the root not."""
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
    """A chain of words, and how many tuples of events it has: `total`, all so far, the newest of them at `last`.

    `ends` is how many subscriptions it is the whole of, `target` whatever the caller wants to find there. The rest is
    the engine's. Of the newest tuple it is known where its last word ended, where the one before, its `previous`, and,
    where the chain is longer, `link`: numbers, as most events change many terms. The same is kept `earlier`, from
    before `last`, and in `past`, as long as a later word may still ask for it: that is, as long as the longest word
    behind this term, its `reach`. A term without children keeps totals only.
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
        self.parent = parent  # first what each event reads: the order in memory is this one
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
        self.slot: i64 = NOWHERE  # in its word's active terms
        self.number: i64 = NOWHERE  # in the newest dump

    @property
    def active(self) -> bool:
        return self.slot != NOWHERE

    def since(self) -> int:
        """Of a term of one word: the event that was the newest when its generation began."""
        assert self.parent is not None
        return self.parent.last

    def begin(self, since: i64) -> None:
        """Be the empty chain, which has its one tuple, the empty one, from an event on."""
        self.total = 1
        self.last = since

    def now(self) -> Version:
        return Version(FOREVER, self.total, self.last, self.previous, self.link)

    def before(self) -> Version:
        """What it was before `last`."""
        return Version(self.last, self.earlier, self.earlier_last, self.earlier_previous, self.earlier_link)

    def at(self, tick: i64) -> Version:
        """What it was as of an event, at most `reach` ago."""
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
        """Before it fires at an event: keep what it was before the last time, for those who may still ask."""
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
        """The term of this one and a word."""
        return self.next(id(word))

    def extend(self, word: Word) -> Term:
        """A child that is not there yet."""
        new = Term(self, word)
        self.grow(id(word), new)
        self.reach = max(self.reach, word.depth)
        return new

    def idle(self) -> bool:
        """Whether nobody needs it."""
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
