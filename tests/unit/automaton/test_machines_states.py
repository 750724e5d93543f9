"""BuildStateMachine and its replay: figures 2 to 4, table 2, and how many states and links there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.automaton.machines import (
    Case,
    Instance,
    LinkKind,
    StateMachine,
    Symbol,
    TimeCondition,
    build_state_machine,
    live_instances,
)
from broker.automaton.machines.state_machine import INSTANCES_MAX
from broker.events.errors import LimitExceeded

PRIMARY, SECONDARY, STAR = LinkKind.PRIMARY, LinkKind.SECONDARY, LinkKind.STAR
CHAINS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=4)


def symbol(name: str, *conditions: TimeCondition) -> Symbol:
    return Symbol(name, name, conditions)


def since(position: int, operator: str, duration: int) -> TimeCondition:
    """On the time since the symbol at a position of the same machine."""
    return TimeCondition(Case.SAME, ((0, position),), operator, duration)


def machine(*terms: str) -> StateMachine:
    return build_state_machine([[symbol(name) for name in term.split()] for term in terms])


def links(built: StateMachine) -> set[tuple[int, int, LinkKind, str]]:
    return {(link.source, link.target, link.kind, link.name) for link in built.links}


def test_figure_2_is_one_contiguous_term() -> None:
    built = build_state_machine([[*map(symbol, "FF"), symbol("F", since(0, "<", 5)), symbol("S")]])
    assert list(built.states) == [0, 1, 2, 3, 4]
    assert links(built) == {(0, 1, PRIMARY, "F"), (1, 2, PRIMARY, "F"), (2, 3, PRIMARY, "F"), (3, 4, PRIMARY, "S")}
    assert [len(link.symbol.conditions) for link in built.links if link.symbol] == [0, 0, 1, 0]


def test_figure_3_stays_in_every_state_between() -> None:
    built = machine("F", "S1", "F", "S2")
    assert links(built) == {
        *((0, 1, PRIMARY, "F"), (1, 2, PRIMARY, "S1"), (2, 3, PRIMARY, "F"), (3, 4, PRIMARY, "S2")),
        *((1, 1, SECONDARY, "F"), (2, 2, SECONDARY, "S1"), (3, 3, SECONDARY, "F")),
        *((1, 1, STAR, "*"), (2, 2, STAR, "*"), (3, 3, STAR, "*")),
    }


def test_figure_4_stays_between_its_three_terms() -> None:
    built = machine("F F S1", "F S", "F2 S")
    word = ["F", "F", "S1", "F", "S", "F2", "S"]
    assert links(built) == {
        *((state, state + 1, PRIMARY, name) for state, name in enumerate(word)),
        *((3, 3, SECONDARY, "S1"), (5, 5, SECONDARY, "S"), (3, 3, STAR, "*"), (5, 5, STAR, "*")),
    }
    assert built.boundaries == {3, 5}
    assert str(built) == "F, F, S1; F, S; F2, S"


@given(CHAINS)
def test_states_and_links_are_as_many_as_the_algorithm_says(terms: list[list[str]]) -> None:
    built = build_state_machine([list(map(symbol, term)) for term in terms])
    m, n = sum(map(len, terms)), len(terms)
    assert len(built.states) == m + 1
    assert [built.count(kind) for kind in LinkKind] == [m, n - 1, n - 1]
    assert built.final == m
    assert [s.name for s in built.symbols] == [name for term in terms for name in term]
    for link in built.links:
        assert link.target - link.source == (link.kind is PRIMARY)
        if link.kind is SECONDARY:
            assert link.symbol == built.symbols[link.source - 1]


@pytest.mark.parametrize("terms", [[], [[]], [[symbol("a")], []]])
def test_a_machine_needs_symbols(terms: list[list[Symbol]]) -> None:
    with pytest.raises(ValueError, match="needs a term"):
        build_state_machine(terms)


def figure_2(window: int) -> StateMachine:
    return build_state_machine([[*map(symbol, "FF"), symbol("F", since(0, "<", window)), symbol("S")]])


def test_table_2_has_three_live_instances() -> None:
    times = [100, 101, 102]
    events = [({"F"}, time) for time in times]
    assert live_instances(figure_2(5), events[:1]) == [Instance(1, ((1, 100),))]
    assert [str(i) for i in live_instances(figure_2(5), events[:2])] == ["N2: N1 at 100, N2 at 101", "N1: N1 at 101"]
    found = live_instances(figure_2(5), events)
    assert [(i.state, i.times) for i in found] == [(3, times), (2, times[1:]), (1, times[2:])]


def test_an_instance_is_lost_when_its_condition_fails() -> None:
    found = live_instances(figure_2(5), [({"F"}, 1), ({"F"}, 2), ({"F"}, 20)])
    assert [(i.state, i.times) for i in found] == [(2, [2, 20]), (1, [20])]


def test_a_match_lives_until_the_next_event() -> None:
    events = [({"F"}, 1), ({"F"}, 2), ({"F"}, 3), ({"S"}, 4)]
    assert [(i.state, i.times) for i in live_instances(figure_2(5), events)] == [(4, [1, 2, 3, 4])]
    assert live_instances(figure_2(5), [*events, (set(), 5)]) == []


def test_a_repeat_before_a_semicolon_is_one_instance_with_two_times() -> None:
    built = machine("F", "S")
    assert live_instances(built, [({"F"}, 1), (set(), 2), ({"F"}, 3)]) == [Instance(1, ((1, 1), (1, 3)))]
    found = live_instances(built, [({"F"}, 1), ({"S"}, 2)])
    assert found == [Instance(2, ((1, 1), (2, 2))), Instance(1, ((1, 1),))]


def test_one_event_starts_an_instance_and_moves_none_twice() -> None:
    assert live_instances(machine("a", "a"), [({"a"}, 1)]) == [Instance(1, ((1, 1),))]


def test_a_later_condition_may_come_true() -> None:
    """The printed pruning loses time 3; a replay does not prune."""
    built = build_state_machine([[symbol("a")], [symbol("b", since(0, ">", 3))]])
    events = [({"a"}, 1), ({"a"}, 3), ({"b"}, 5)]
    assert [i.state for i in live_instances(built, events)] == [2, 1]
    assert [i.state for i in live_instances(built, [({"a"}, 3), ({"b"}, 5)])] == [1]


def test_a_replay_is_bounded() -> None:
    many = build_state_machine([[symbol("a") for _ in range(INSTANCES_MAX + 2)]])
    small = [({"a"}, time) for time in range(50)]
    assert len(live_instances(many, small)) == 50
    branching = build_state_machine([[symbol("a"), symbol("a")] for _ in range(12)])
    with pytest.raises(LimitExceeded, match="at most 1000 instances"):
        live_instances(branching, [({"a"}, time) for time in range(60)])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sets(st.sampled_from("abc"))))
def test_instances_of_a_contiguous_term_are_its_prefixes_at_the_stream_s_end(
    word: list[str], stream: list[set[str]]
) -> None:
    built = build_state_machine([list(map(symbol, word))])
    found = live_instances(built, [(triggered, time) for time, triggered in enumerate(stream)])
    expected = [
        (length, list(range(len(stream) - length, len(stream))))
        for length in range(min(len(word), len(stream)), 0, -1)
        if all(name in event for name, event in zip(word, stream[len(stream) - length :]))
    ]
    assert [(i.state, i.times) for i in found] == expected
