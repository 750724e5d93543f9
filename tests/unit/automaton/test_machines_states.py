"""BuildStateMachine: figures 2 to 4, and how many states and links there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker.automaton.machines.state_machine import Case, StateMachine, Symbol, TimeCondition

CHAINS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=4)


def symbol(name: str, *conditions: TimeCondition) -> Symbol:
    return Symbol(name, name, conditions)


def since(position: int, operator: str, duration: int) -> TimeCondition:
    """On the time since the symbol at a position of the same machine."""
    return TimeCondition(Case.SAME, ((0, position),), operator, duration)


def machine(*terms: str) -> StateMachine:
    return StateMachine(tuple(tuple(map(symbol, term.split())) for term in terms))


def names(built: StateMachine) -> list[str]:
    return [each.name for each in built.symbols]


def test_figure_2_is_one_contiguous_term() -> None:
    built = StateMachine(((*map(symbol, "FF"), symbol("F", since(0, "<", 5)), symbol("S")),))
    assert list(built.states) == [0, 1, 2, 3, 4]
    assert names(built) == ["F", "F", "F", "S"]
    assert built.boundaries == set()
    assert [len(each.conditions) for each in built.symbols] == [0, 0, 1, 0]


def test_figure_3_stays_in_every_state_between() -> None:
    built = machine("F", "S1", "F", "S2")
    assert names(built) == ["F", "S1", "F", "S2"]
    assert built.boundaries == {1, 2, 3}


def test_figure_4_stays_between_its_three_terms() -> None:
    built = machine("F F S1", "F S", "F2 S")
    assert names(built) == ["F", "F", "S1", "F", "S", "F2", "S"]
    assert built.boundaries == {3, 5}
    assert str(built) == "F, F, S1; F, S; F2, S"


@given(CHAINS)
def test_states_and_loops_are_as_many_as_the_algorithm_says(terms: list[list[str]]) -> None:
    built = machine(*map(" ".join, terms))
    m, n = sum(map(len, terms)), len(terms)
    assert len(built.states) == m + 1
    assert len(built.boundaries) == n - 1
    assert built.final == m
    assert names(built) == [name for term in terms for name in term]
