"""The trie's counts as plain data and back, and its invariants.

A dump holds the words themselves, so that reading it needs no subscription: numbers, lists and strings; totals are
hexadecimal, because most formats end at 64 bits. A subscription finds its term again by the term's number in the dump.

Here: that format, invariants. Not here: the meaning of the counts (trie, terms).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .items import Items
from .terms import NOWHERE, Link, Term, Version, Word
from .trie import WordTrie

NO_PARENT: Final = -1


def dump(words: WordTrie, names: Mapping[int, int] | None = None) -> dict[str, Any]:
    """All state on which later counts and witnesses depend, in an order that only the words decide.

    Sets each term's `number`. `names` are written instead of symbols. O(terms log terms).
    """
    words.tidy()
    terms = all_terms(words, names)
    for number, term in enumerate(terms):
        term.number = number
    return {
        "position": words.position,
        "tick": words.tick,
        "items": [[number, item] for number, item in words.items.old.items()],
        "cursors": sorted(_renamed(word.symbols(), names) for word in words.cursors),
        "terms": [_record(term, names) for term in terms],
    }


def load(data: Mapping[str, Any], symbols: Mapping[int, int] | None = None) -> tuple[WordTrie, list[Term]]:
    """The dumped trie, and its terms by number; the caller sets their targets.

    `symbols` renames the primitives, for a caller that has numbered them anew. Raises KeyError, IndexError, TypeError
    or ValueError if the data are no dump.
    """
    words = WordTrie()
    words.position = data["position"]
    words.tick = data["tick"]
    words.items = Items(dict(data["items"]), words.tick + 1)
    origins: dict[int, Term] = {}
    terms: list[Term] = []
    for parent, since, written, ends, now, before, past in data["terms"]:
        word = words.word(_renamed(written, symbols))
        if parent == NO_PARENT:
            origin = origins.get(since)
            if origin is None:
                origin = origins[since] = Term(None, words.root)
                origin.begin(since)
            term = words.begin(origin, word)
        else:
            term = words.enter(terms[parent].extend(word))
        term.ends = ends
        newest, earlier = _version(now), _version(before)
        term.total, term.last, term.previous, term.link = newest.total, newest.last, newest.previous, newest.link
        term.earlier, term.earlier_last = earlier.total, earlier.last
        term.earlier_previous, term.earlier_link = earlier.previous, earlier.link
        term.past = [_version(version) for version in past] if past else None
        terms.append(term)
    words.begun = [term for term in terms if term.total > 0]
    words.cursors = [words.word(_renamed(written, symbols)) for written in data["cursors"]]
    return words, terms


def check_invariants(words: WordTrie) -> None:
    """Assert that derived data agree with the data that they come from. O(all)."""
    terms = all_terms(words)
    found: dict[int, int] = {}
    for term in terms:
        parent, word = term.parent, term.word
        assert parent is not None
        assert not term.idle()
        assert term.active == (parent.total > 0)
        assert not term.active or (word.active is not None and word.active[term.slot] is term)
        assert 0 <= term.earlier <= term.total
        assert term.last <= words.tick
        assert parent.parent is None or parent.behind(word) is term
        assert all(child.word.depth <= term.reach for child in term.following())
        untils = [version.until for version in term.past or ()]
        assert untils == sorted(set(untils))
        assert not untils or untils[-1] < term.last
        found[id(word)] = found.get(id(word), 0) + 1
    begun = {id(term) for term in words.begun}
    assert all(id(term) in begun for term in terms if term.total > 0 and term.reach > 0)
    nodes = _nodes(words)
    for node in nodes:
        assert not node.idle()
        assert node.terms == found.get(id(node), 0)
        assert node.parent is not None
        assert node.parent.next(node.symbol) is node
        assert node.active is None or (node.active and all(term.word is node for term in node.active))
    live = {id(node) for node in nodes}
    assert all(id(cursor) in live for cursor in words.cursors)
    assert words.terms == len(terms)


def statistics(words: WordTrie) -> dict[str, int]:
    """The numbers of `words` with terms, trie `nodes`, `terms`, and `active` terms. O(all)."""
    terms = all_terms(words)
    nodes = _nodes(words)
    active = sum(term.active for term in terms)
    ends = sum(node.terms > 0 for node in nodes)
    return {"words": ends, "nodes": len(nodes), "terms": len(terms), "active": active}


def _nodes(words: WordTrie, names: Mapping[int, int] | None = None) -> list[Word]:
    """Every node of the trie except its root."""
    found = words.root.following()
    for word in found:
        found += word.following()
    return sorted(found, key=lambda word: _renamed(word.symbols(), names))


def all_terms(words: WordTrie, names: Mapping[int, int] | None = None) -> list[Term]:
    """Every term, parents before children, equal first words in the order of their generations."""
    nodes = _nodes(words, names)
    places = {id(word): at for at, word in enumerate(nodes)}
    found: list[Term] = []
    for word in nodes:
        found += sorted([term for term in word.active or () if term.length == 1], key=Term.since)
    for term in found:
        found += sorted(term.following(), key=lambda child: places[id(child.word)])
    return found


def _record(term: Term, names: Mapping[int, int] | None) -> list[Any]:
    parent = term.parent
    assert parent is not None
    return [
        NO_PARENT if parent.number == NOWHERE else parent.number,
        term.since() if term.length == 1 else None,
        _renamed(term.word.symbols(), names),
        term.ends,
        _written(term.now()),
        _written(term.before()),
        [_written(version) for version in term.past or ()],
    ]


def _written(version: Version) -> list[Any]:
    links: list[int] = []
    link = version.link
    while link is not None:
        links.append(link[0])
        link = link[1]
    return [version.until, f"{version.total:x}", version.last, version.previous, links]


def _version(written: Sequence[Any]) -> Version:
    until, total, last, previous, links = written
    link: Link = None
    for end in reversed(links):
        link = (end, link)
    return Version(until, int(total, 16), last, previous, link)


def _renamed(symbols: Iterable[int], names: Mapping[int, int] | None) -> list[int]:
    return list(symbols) if names is None else [names[symbol] for symbol in symbols]
