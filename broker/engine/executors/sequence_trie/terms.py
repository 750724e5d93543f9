"""What words are counted in: a trie of words over symbols, and terms, which are chains of words (P-ToPSS notes, 3).

A word is a contiguous run of primitives `a, b, c`; a term is a word behind another term, `w1; w2; w3`. Equal words are
one node of the trie, equal chains one term, whoever asked for them. A term counts its tuples: one number, whatever the
events behind it.

Here: the two structures, and what a term knows of its past. Not here: who makes them, and what an event does (words).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

NEVER: Final = -(1 << 62)  # before any event
FOREVER: Final = 1 << 62
NOWHERE: Final = -1


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

    def ends(self, words: i64) -> list[int]:
        """Where the words of the newest tuple end, the last one first."""
        found: list[int] = [self.last]
        if words > 1:
            found.append(self.previous)
        link = self.link
        while link is not None:
            found.append(link[0])
            link = link[1]
        return found


@final
class Word:
    """A node of the trie: the word that leads to it. `terms` counts the terms that end in it; `active` are those of
    them whose parent has a tuple; `first` is the newest one that begins with it.

    Most nodes have one kid: a dictionary for each would be most of the memory.
    """

    __slots__ = ("active", "depth", "first", "kid", "kids", "parent", "symbol", "terms")

    def __init__(self, parent: Word | None, symbol: int, depth: i64) -> None:
        self.parent = parent
        self.symbol = symbol
        self.depth = depth
        self.kid: Word | None = None
        self.kids: dict[int, Word] | None = None
        self.active: list[Term] | None = None
        self.first: Term | None = None
        self.terms: i64 = 0

    def next(self, symbol: int) -> Word | None:
        kid = self.kid
        if kid is not None:
            return kid if kid.symbol == symbol else None
        kids = self.kids
        return None if kids is None else kids.get(symbol)

    def grow(self, symbol: int) -> Word:
        """A kid that is not there yet."""
        new = Word(self, symbol, self.depth + 1)
        kid = self.kid
        kids = self.kids
        if kids is not None:
            kids[symbol] = new
        elif kid is None:
            self.kid = new
        else:
            self.kids = {kid.symbol: kid, symbol: new}
            self.kid = None
        return new

    def cut(self, kid: Word) -> None:
        """Forget a kid."""
        if self.kids is None:
            self.kid = None
            return
        del self.kids[kid.symbol]
        if len(self.kids) == 1:
            [self.kid] = self.kids.values()
            self.kids = None

    def collect(self, found: list[Word]) -> None:
        """Append its kids."""
        if self.kid is not None:
            found.append(self.kid)
        elif self.kids is not None:
            found += self.kids.values()

    def idle(self) -> bool:
        """Whether nobody needs it."""
        return self.terms == 0 and self.kid is None and self.kids is None

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
class Term:
    """A chain of words, and how many tuples of events it has: `total`, all so far, the newest of them at `last`.

    `ends` is how many subscriptions it is the whole of, `target` whatever the caller wants to find there. The rest is
    the engine's. Of the newest tuple it is known where its last word ended, where the one before, its `previous`, and,
    where the chain is longer, `link`: numbers, as most events change many terms. The same is kept `earlier`, from
    before `last`, and in `past`, as long as a later word may still ask for it: that is, as long as the longest word
    behind this term, its `reach`. A term without children keeps totals only.
    """

    __slots__ = (
        "child",
        "children",
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
        self.child: Term | None = None
        self.children: dict[Word, Term] | None = None
        self.slot: i64 = NOWHERE  # in its word's active terms
        self.number: i64 = NOWHERE  # in the newest dump

    @property
    def count(self) -> int:
        """How many tuples the event at `last` has completed: exact, of any size."""
        return self.total - self.earlier

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
        child = self.child
        if child is not None:
            return child if child.word is word else None
        children = self.children
        return None if children is None else children.get(word)

    def extend(self, word: Word) -> Term:
        """A child that is not there yet."""
        new = Term(self, word)
        child = self.child
        children = self.children
        if children is not None:
            children[word] = new
        elif child is None:
            self.child = new
        else:
            self.children = {child.word: child, word: new}
            self.child = None
        self.reach = max(self.reach, word.depth)
        return new

    def cut(self, child: Term) -> None:
        """Forget a child."""
        if self.children is None:
            self.child = None
            return
        del self.children[child.word]
        if len(self.children) == 1:
            [self.child] = self.children.values()
            self.children = None

    def collect(self, found: list[Term]) -> None:
        """Append its children."""
        if self.child is not None:
            found.append(self.child)
        elif self.children is not None:
            found += self.children.values()

    def idle(self) -> bool:
        """Whether nobody needs it."""
        return self.ends == 0 and self.child is None and self.children is None
