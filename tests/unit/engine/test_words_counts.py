"""Counts of shared words against enumeration: for each event and subscription, whatever was added and removed when."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine.executors.sequence_trie.dump import check_invariants, dump, load, statistics
from broker.engine.executors.sequence_trie.terms import Term
from broker.engine.executors.sequence_trie.trie import Fired, WordTrie

Chain: TypeAlias = list[list[int]]
Happened: TypeAlias = dict[int, list[int]]  # position -> symbols

# Two symbols and few chains: what is not shared, and does not overlap with itself, tests little.
words_of_two = st.lists(st.integers(0, 1), min_size=1, max_size=3)
chains = st.lists(words_of_two, min_size=1, max_size=3)
nothing = st.builds(list[int])
gaps = st.sampled_from([1, 1, 1, 1, 1, 1, 1, 2, 3])
events = st.tuples(st.just("event"), gaps, st.sampled_from([[0], [0], [1], [1], [0, 1], [1, 0], [2]]))
adds = st.tuples(st.just("add"), st.just(0), chains)
removes = st.tuples(st.just("remove"), st.integers(0, 9), nothing)
reloads = st.tuples(st.just("reload"), st.just(0), nothing)
steps = st.one_of(events, events, events, events, adds, adds, removes, reloads)
scenarios = st.integers(5, 30).flatmap(lambda size: st.lists(steps, min_size=size, max_size=size))


@dataclass
class Subscribed:
    """A subscription, its term, and the events that it may see."""

    chain: Chain
    term: Term
    sees: Happened = field(default_factory=dict)


def tuples_ending_at(chain: Chain, happened: Happened, end: int) -> list[list[int]]:
    """All tuples of positions whose last is `end`, by trying every place of every word."""
    *before, word = chain
    own = list(range(end - len(word) + 1, end + 1))
    if not all(position in happened and symbol in happened[position] for position, symbol in zip(own, word)):
        return []
    if not before:
        return [own]
    return [found + own for p in happened if p < own[0] for found in tuples_ending_at(before, happened, p)]


@settings(max_examples=4 * settings().max_examples)
@given(scenarios)
def test_counts_and_witnesses_are_those_of_enumeration(scenario: list[tuple[str, int, list[int]]]) -> None:
    words, position = WordTrie(), 0
    subscribed: list[Subscribed] = []
    witnesses: list[tuple[Fired, list[int]]] = []
    for what, number, content in scenario:
        if what == "add":
            chain: Chain = content  # type: ignore[assignment]
            subscribed.append(Subscribed(chain, words.add(chain)))
        elif what == "remove" and subscribed:
            words.remove(subscribed.pop(number % len(subscribed)).term)
        elif what == "reload":
            data = json.loads(json.dumps(dump(words)))
            numbers = [each.term.number for each in subscribed]
            words, terms = load(data)
            for each, old in zip(subscribed, numbers):
                each.term = terms[old]
        elif what == "event":
            position += number
            fired: list[Fired] = []
            words.take(content, position, 1000 + position, fired)
            by_term = {f.term: f for f in fired}
            assert len(by_term) == len(fired)
            for each in subscribed:
                each.sees[position] = content
                expected = tuples_ending_at(each.chain, each.sees, position)
                assert (each.term in by_term) == bool(expected), each.chain
                if expected:
                    assert by_term[each.term].count == len(expected), each.chain
                    witness = [1000 + max(column) for column in zip(*expected)]
                    witnesses.append((by_term[each.term], witness))
        check_invariants(words)
    words.tidy()
    for completed, witness in witnesses:  # now, whatever was forgotten since
        assert completed.witness() == witness
    for each in subscribed:
        words.remove(each.term)
    check_invariants(words)
    assert statistics(words) == {"words": 0, "nodes": 0, "terms": 0, "active": 0}


@pytest.mark.parametrize("chain", [[[1]], [[1, 2], [1]], [[1, 1, 1]], [[1], [1], [1]]])
def test_equal_subscriptions_share_their_term(chain: Chain) -> None:
    words = WordTrie()
    term = words.add(chain)
    once = statistics(words)
    assert words.add(chain) is term
    assert statistics(words) == once
    assert term.ends == 2
    words.remove(term)
    assert statistics(words) == once
    assert term.ends == 1


def test_prefixes_are_shared_between_subscriptions() -> None:
    words = WordTrie()
    words.add([[1, 2], [3]])
    words.add([[1, 2], [4, 5]])
    words.add([[1, 2, 3]])
    words.add([[1, 2]])
    assert statistics(words) == {"words": 4, "nodes": 6, "terms": 4, "active": 2}


def test_who_comes_later_shares_what_is_untouched() -> None:
    words = WordTrie()
    early = words.add([[1, 2], [3]])
    words.take([3], 0, 0, [])
    assert words.add([[1, 2], [3]]) is early
    words.take([1], 1, 1, [])
    late = words.add([[1, 2], [3]])
    assert late is not early  # a 1 that only the first has seen
    assert words.add([[1, 2], [3]]) is late
    words.take([3], 2, 2, [])
    assert words.add([[1, 2], [3]]) is late  # nothing has come of it


def test_who_comes_later_does_not_see_a_word_that_has_begun() -> None:
    words, fired = WordTrie(), list[Fired]()
    words.take([9], 0, 0, [])
    early = words.add([[1, 2]])
    words.take([1], 1, 1, [])
    late = words.add([[1, 2]])
    words.take([2], 2, 2, fired)
    assert [f.term for f in fired] == [early]
    words.take([1], 3, 3, fired)
    words.take([2], 4, 4, fired)
    assert [f.term for f in fired] == [early, early, late]


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_a_word_continues_only_what_ended_before_it_began(length: int) -> None:
    words = WordTrie()
    term = words.add([[0], [0] * length])
    longer = words.add([[0], [0] * 7])  # asks for what is longer ago
    for position in range(40):
        fired: list[Fired] = []
        words.take([0], position, position, fired)
        counts = {f.term: f.count for f in fired}
        assert counts.get(term, 0) == max(0, position - length + 1)
        assert counts.get(longer, 0) == max(0, position - 6)


def test_adjacency_is_judged_by_position() -> None:
    words, fired = WordTrie(), list[Fired]()
    pair = words.add([[1, 2]])
    words.take([1], 0, 0, fired)
    words.take([2], 2, 2, fired)  # what was at 1 satisfied nothing, and breaks the word
    assert fired == []
    words.take([1], 3, 3, fired)
    words.take([2], 4, 4, fired)
    assert [f.term for f in fired] == [pair]
    assert fired[0].witness() == [3, 4]


def test_counts_are_exact_beyond_64_bits() -> None:
    words = WordTrie()
    term = words.add([[0]] * 12)
    ways = [1] + [0] * 12  # by how many words of the chain
    for position in range(400):
        fired: list[Fired] = []
        words.take([0], position, position, fired)
        added = ways[11]
        ways = [1] + [ways[i] + ways[i - 1] for i in range(1, 13)]
        assert (fired[0].count if fired else 0) == added
        if position == 200:
            words, terms = load(json.loads(json.dumps(dump(words))))
            [term] = [found for found in terms if found.ends]
    assert term.total == ways[12]
    assert term.total > 2**66
    assert fired[0].witness() == list(range(388, 400))


def test_a_witness_holds_whatever_items_the_caller_gave() -> None:
    words, fired = WordTrie(), list[Fired]()
    words.add([[1], [2, 3]])
    for position, symbol in enumerate([1, 2, 3]):
        words.take([symbol], position, (position, 10 * position), fired)
    assert fired[0].witness() == [(0, 0), (1, 10), (2, 20)]


def test_long_streams_keep_only_what_words_may_ask_for() -> None:
    words = WordTrie()
    words.add([[1], [1, 1, 1], [1]])
    for position in range(20_000):
        words.take([1], position, position, [])
    check_invariants(words)
    assert len(words.items) < 9000
    assert max(len(record[-1]) for record in dump(words)["terms"]) <= 3


def test_a_dump_is_read_with_other_symbols() -> None:
    words, fired = WordTrie(), list[Fired]()
    term = words.add([[1, 2], [1]])
    for position, symbol in enumerate([1, 2, 1]):
        words.take([symbol], position, position, fired)
    data = dump(words)
    loaded, terms = load(data, {1: 70, 2: 50})
    found = terms[term.number]
    again: list[Fired] = []
    for position, symbol in enumerate([50, 70], start=3):
        words.take([{50: 2, 70: 1}[symbol]], position, position, fired)
        loaded.take([symbol], position, position, again)
    assert found.total == term.total == 3
    assert again[-1].witness() == fired[-1].witness() == [2, 3, 4]


@pytest.mark.parametrize("chain", [[], [[]], [[1], []]])
def test_empty_words_are_refused(chain: Chain) -> None:
    words = WordTrie()
    with pytest.raises(ValueError, match="empty one"):
        words.add(chain)
    assert statistics(words)["nodes"] == 0
