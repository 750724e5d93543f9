"""Merging by state equivalence: figure 6, conditions, and the paper's definition computed the slow way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.composite_subscriptions import lowered, subscriptions

from broker.algebra.ptopss.lowering import lower
from broker.automaton.constructions.composite import decompose
from broker.automaton.machines.decomposition import Machines, machines_of
from broker.automaton.machines.drawing import merged_lines
from broker.automaton.machines.merging import GateFeed, Merged, Start, StateFeed, merge
from broker.automaton.machines.state_machine import StateMachine
from broker.events.schema import Schema
from broker.language import ptopss

SCHEMA = Schema.declare({"ty": "string", "ip": "string"})


def machines(pattern: str, before: str = "FROM S", after: str = "") -> Machines:
    used = "\n".join(f"{name}: ty = '{name}'" for name in "abcdefgh" if re.search(rf"\b{name}\b", pattern))
    text = f"{before}\n{used}\nMATCH {pattern} {after}"
    return machines_of(decompose(lower(ptopss.parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])))


def merged(*patterns: str) -> Merged:
    return merge([(f"q{number}", machines(pattern)) for number, pattern in enumerate(patterns, 1)])


def counts(*patterns: str) -> tuple[int, int]:
    found = merged(*patterns)
    return found.before, len(found.states)


def test_figure_6_has_six_states_of_ten() -> None:
    found = merged("a; b; c", "a; b; d", "a")
    assert (found.before, len(found.states)) == (10, 6)
    n0, m1, m2, m3, m4, m5 = found.states
    assert [state.number for state in found.states if state.loops] == [m1.number, m2.number]
    assert n0.symbol is None
    assert [state.parent for state in found.states] == [-1, 0, 1, 2, 2, 0]
    assert (m3.ends, m4.ends, m5.ends) == (["q1"], ["q2"], ["q3"])
    assert m1.symbol == m5.symbol, "both are triggered by a, but a star enters M1 alone"
    assert [state.uses for state in found.states] == [3, 2, 2, 1, 1, 1]
    assert (found.shared, found.commonality) == (3, 0.3)
    assert merged_lines(found) == ["10 states before merging, 6 after", "3 shared, commonality 0.3"]


def test_equal_subscriptions_are_one() -> None:
    assert counts("a; b, c", "a; b, c") == (8, 4)
    assert merged("a; b, c", "a; b, c").states[3].ends == ["q1", "q2"]


@pytest.mark.parametrize(
    ("one", "other", "after"),
    [
        ("a; b", "a, b", 5),  # nothing but the start
        ("a; b @(t(b) - t(a) < 3)", "a; b @(t(b) - t(a) < 3)", 3),
        ("a; b @(t(b) - t(a) < 3)", "a; b @(t(b) - t(a) < 4)", 4),
        ("a; b @(t(b) - t(a) < 3)", "a; b @(t(b) - t(a) <= 3)", 4),
        ("a; b @(t(b) - t(a) < 3)", "a; b", 4),
        ("a; b; c @(t(c) - t(a) < 3)", "a; b; c @(t(c) - t(b) < 3)", 5),
        ("a; b; c @(t(c) - t(a) < 3); d", "a; b; c @(t(c) - t(a) < 3); e", 6),
    ],
)
def test_equal_conditions_merge_and_others_split(one: str, other: str, after: int) -> None:
    assert counts(one, other)[1] == after


def test_streams_partitions_and_windows_start_apart() -> None:
    for before, after in (("FROM S BY ip", ""), ("FROM S", "WITHIN 5 min")):
        found = merge([("one", machines("a; b")), ("other", machines("a; b", before, after))])
        assert (found.before, len(found.states)) == (6, 6)
    assert found.states[3].activation == Start(("S",), (), 300_000_000)


def test_equal_boolean_machines_are_one_and_so_are_their_children() -> None:
    found = merged("a; ((b, c) AND (d, e)); f", "a; ((b, c) AND (d, e)); g")
    # masters N0 to N2 and a third each; children: one start in N1, two successors each.
    assert (found.before, len(found.states)) == (20, 5 + 5)
    (gate,) = found.gates
    assert gate.uses == 2
    assert [isinstance(feed, StateFeed) for feed in gate.feeds] == [True, True]
    derived = [state for state in found.states if state.fed is not None]
    assert [state.fed for state in derived] == [GateFeed(0)]


def test_children_that_start_elsewhere_stay_apart() -> None:
    found = merged("a; ((b, c) AND d)", "f; ((b, c) AND d)")
    assert len(found.gates) == 2
    assert (found.before, len(found.states)) == (12, 1 + 4 + 6)


def test_a_condition_of_a_gate_splits_it() -> None:
    found = merged("(a AND b) @(t(b) - t(a) < 3)", "a AND b", "a AND b")
    assert [gate.ends for gate in found.gates] == [["q1"], ["q2", "q3"]]
    assert (found.before, found.states, found.commonality) == (0, (), 0.0)


def test_references_are_found_by_their_place_not_by_their_number() -> None:
    """In both, the operand with number 2 is the reference: c of one, b of the other."""
    one = "(a AND ((b; c); ((d @(t(d) - t(c) < 3)) AND e)))"
    other = "((a; f) AND ((b; c); ((d @(t(d) - t(b) < 3)) AND e)))"
    found = merged(one, other)
    conditions = {c for gate in found.gates for symbol in gate.body.inputs for c in symbol.conditions}
    assert len(conditions) == 2
    same = other.replace("t(b) <", "t(c) <")
    assert len({c for g in merged(one, same).gates for symbol in g.body.inputs for c in symbol.conditions}) == 1


def word(found: Merged, state: int) -> list[tuple[object, bool]]:
    """The symbols of the links that lead to a state, and whether a state between has loops."""
    here = found.states[state]
    return [] if here.parent < 0 else [*word(found, here.parent), (here.symbol, here.loops)]


@given(st.lists(subscriptions(), max_size=5))
def test_merging_loses_no_word_and_adds_no_state(texts: list[str]) -> None:
    decomposed = [(f"q{number}", machines_of(decompose(lowered(text)))) for number, text in enumerate(texts)]
    found = merge(decomposed)
    assert found.before == sum(
        len(each.body.states) for _, one in decomposed for each in one.machines if isinstance(each.body, StateMachine)
    )
    assert len(found.states) <= found.before
    assert sum(state.uses for state in found.states) == found.before
    ends = [name for state in found.states for name in state.ends] + [n for gate in found.gates for n in gate.ends]
    assert sorted(ends) == [name for name, _ in decomposed]
    for name, one in decomposed:
        body = one.master.body
        if isinstance(body, StateMachine):
            (end,) = [state.number for state in found.states if name in state.ends]
            assert word(found, end) == [(s, n in body.boundaries) for n, s in enumerate(body.symbols, 1)]
        else:
            (gate,) = [gate for gate in found.gates if name in gate.ends]
            assert gate.body == body
    again = merge([*decomposed, *decomposed])
    assert len(again.states) == len(found.states)
    assert len(again.gates) == len(found.gates)


CHAINS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(",;")), min_size=1, max_size=4), min_size=1, max_size=5
)


@given(CHAINS)
def test_merged_states_are_the_classes_of_the_paper_s_equivalence(chains: list[list[tuple[str, str]]]) -> None:
    bodies = [_chain(chain) for chain in chains]
    found = merge([(str(number), body) for number, body in enumerate(bodies)])
    states = [
        (number, state)
        for number, one in enumerate(bodies)
        for state in (one.master.body.states if isinstance(one.master.body, StateMachine) else ())
    ]
    classes: list[tuple[int, int]] = []
    for state in states:
        if not any(_equivalent(bodies, state, other) for other in classes):
            classes.append(state)
    assert len(found.states) == len(classes)
    words = [word(found, state.number) for state in found.states]
    assert all(words.count(one) == 1 for one in words)


def _chain(chain: list[tuple[str, str]]) -> Machines:
    names = [f"{name}{position}" for position, (name, _) in enumerate(chain)]
    pattern = "".join(f"{' ' if not i else chain[i][1] + ' '}{name}" for i, name in enumerate(names))
    definitions = "\n".join(f"{name}: ty = '{name[0]}'" for name in names)
    text = f"FROM S\n{definitions}\nMATCH {pattern}"
    return machines_of(decompose(lower(ptopss.parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])))


def _equivalent(bodies: list[Machines], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """P-ToPSS 4.3 as it is written: links of the same kinds and symbols from equivalent states, a state's links to
    itself assumed to come from equivalent states."""
    incoming = []
    for number, state in (one, other):
        body = bodies[number].master.body
        assert isinstance(body, StateMachine)
        incoming.append((body.symbols[state - 1] if state else None, state in body.boundaries))
    if incoming[0] != incoming[1]:
        return False
    return one[1] == other[1] == 0 or _equivalent(bodies, (one[0], one[1] - 1), (other[0], other[1] - 1))
