"""Which states and arcs a composite subscription has."""

from __future__ import annotations

import pytest
from strategies.composite_subscriptions import lowered

from broker.automaton.analyses.kept_times import KeptTime, kept_times
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.composite import automaton_of as automaton_of_tree
from broker.automaton.constructions.composite import decompose
from broker.automaton.constructions.composite.conditions import LIMITS_MAX
from broker.automaton.constructions.composite.exploration import MOVES_MAX
from broker.engine.executors.tuple_counts.counting_plan import CountingPlan, counting_plan
from broker.events.errors import DefinitionError, LimitExceeded


def automaton_of(match: str, *definitions: str) -> Automaton:
    """An automaton; operands that are not defined fit every event."""
    defined = {name.strip() for line in definitions for name in line.split(":")[0].split(",")}
    words = match.replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ").split("WITHIN")[0].split()
    names = sorted({w for w in words if w[0] == "s" and w[1:].isdigit()} - defined)
    rest = [f"{', '.join(names)}: TRUE"] if names else []
    return automaton_of_tree(decompose(lowered("FROM S\n" + "\n".join([*definitions, *rest]) + f"\nMATCH {match}")))


def compiled(match: str, *definitions: str) -> CountingPlan:
    return counting_plan(automaton_of(match, *definitions))


def times_of(match: str) -> list[list[KeptTime]]:
    return [list(own.values()) for own in kept_times(automaton_of(match))]


def chain(first: int, upto: int, separator: str) -> str:
    return separator.join(f"s{number}" for number in range(first, upto))


def conjunction(parts: int, length: int, separator: str) -> str:
    return " AND ".join(f"({chain(n * length, (n + 1) * length, separator)})" for n in range(parts))


@pytest.mark.parametrize(
    ("separator", "parts", "length", "states"),
    [
        (";", 2, 2, 9),
        (";", 2, 5, 36),
        (";", 2, 10, 121),
        (";", 3, 5, 216),
        (";", 4, 3, 256),
        (",", 2, 2, 8),
        (",", 2, 5, 20),
        (",", 2, 10, 40),
        (",", 3, 5, 56),
        (",", 4, 3, 80),
    ],
)
def test_and_is_a_shuffle_and_a_contiguous_part_forbids_the_others_to_move(
    separator: str, parts: int, length: int, states: int
) -> None:
    assert len(compiled(conjunction(parts, length, separator)).states) == states


def test_arcs_lead_to_greater_states_and_every_state_completes() -> None:
    automaton = compiled("s1; ((s2, s3) AND (s4, s5)); s6; (s7 OR s8)")
    assert all(arc.source < arc.target for arc in automaton.arcs)
    assert {arc.source for arc in automaton.arcs} == {n for n, state in enumerate(automaton.states) if not state.final}
    assert [state.final for state in automaton.states].count(True) == 1
    assert len(automaton.states) == 11  # s1 and the start, seven more of the shuffle, s6, the end
    assert sum(not state.skips for state in automaton.states) == 4  # an s2 or an s4 is the last event


def test_branches_meet_again_unless_a_later_condition_asks_which_was_taken() -> None:
    assert len(compiled("(s1 OR s2); s3").states) == 3
    assert len(compiled("(s1 OR s2); s3 @(t(s3) - t(s1) < 5)").states) == 4
    assert len(compiled("(s1 OR s2); s3 @(t(s3) - t(s1) < 5); s4").states) == 5


def test_branches_that_bind_different_variables_stay_apart() -> None:
    automaton = compiled("(s1 OR s2); s3", "s1: k = $x", "s2: ty = $z")
    assert sorted(state.variables for state in automaton.states if state.final) == [(0,), (1,)]


def test_groups_mean_what_flat_terms_mean() -> None:
    def steps(match: str) -> list[tuple[int, int, int]]:
        return [(arc.source, arc.operand, arc.target) for arc in compiled(match).arcs]

    assert steps("s1, (s2, (s3; s4))") == steps("s1, s2, s3; s4")
    assert steps("s1 AND (s2 AND s3)") == steps("s1 AND s2 AND s3")
    assert steps("s1 OR (s2 OR s3)") == steps("s1 OR s2 OR s3")


def test_a_variable_that_all_operands_join_is_a_key_and_in_no_state() -> None:
    automaton = compiled("s1; s2", "s1: k = $x", "s2: w = $x AND ty = $z")
    assert automaton.key == (0,)
    assert automaton.keys == ((1,), (2,))
    assert [state.variables for state in automaton.states] == [(), (), (1,)]
    assert [arc.present for arc in automaton.arcs] == [[], [0]]


def test_a_test_within_a_contiguous_run_reads_the_last_events_and_keeps_no_time() -> None:
    automaton = compiled("s1, s2, s3 @(t(s3) - t(s1) < 5)")
    assert [arc.recents for arc in automaton.arcs] == [[], [], [2]]
    assert automaton.arcs[2].recent_ranges == [[0, 4]]
    assert not any(state.times for state in automaton.states)


def test_times_are_kept_from_the_event_to_the_last_condition_on_it() -> None:
    match = "s1; s2; s3 @(t(s3) - t(s1) < 5); s4"
    assert [[kept.since for kept in own] for own in times_of(match)] == [[], [0], [0], []]
    automaton = compiled(match)
    assert [arc.checks for arc in automaton.arcs] == [[], [], [0], []]
    assert automaton.arcs[2].check_ranges == [[0, 4]]


def test_what_only_one_branch_asks_is_not_a_must() -> None:
    (kept,) = times_of("s1; ((s2 @(t(s2) - t(s1) < 5)) OR s3)")[1]
    assert (kept.open, kept.must) == ({0}, set())
    (kept,) = times_of("s1; (s3 OR s4); s2 @(t(s2) - t(s1) < 5)")[1]
    assert (kept.open, kept.must) == ({0}, {0})


def test_too_many_moves_are_refused_with_the_limit() -> None:
    leaves = " AND ".join(f"s{number}" for number in range(11))
    with pytest.raises(LimitExceeded, match=f"{MOVES_MAX} moves"):
        compiled(leaves)
    assert len(compiled(leaves.removesuffix(" AND s10")).arcs) == 5120


def test_too_many_conditions_are_refused_with_the_limit() -> None:
    pairs = [f"@(t(s{later}) - t(s{earlier}) != 9)" for later in range(12) for earlier in range(later)]
    with pytest.raises(LimitExceeded, match=f"{LIMITS_MAX} time conditions .* has {len(pairs)}"):
        compiled(f"{chain(0, 12, ';')} {' '.join(pairs)}")


def test_contradicting_conditions_are_refused_and_named() -> None:
    with pytest.raises(DefinitionError, match=r"t\(s2\) - t\(s1\) < 3 us and t\(s2\) - t\(s1\) > 5 us"):
        compiled("s1; s2 @(t(s2) - t(s1) < 3) @(t(s2) - t(s1) > 5)")
    with pytest.raises(DefinitionError, match=r"satisfy t\(s2\) - t\(s1\) > 3 us, given .* the other conditions"):
        compiled("s1; s2 @(t(s2) - t(s1) > 3); s3 @(t(s3) - t(s2) > 3) @(t(s3) - t(s1) < 5)")
    with pytest.raises(DefinitionError, match=r"WITHIN 8 us|t\(s2\) - t\(s1\) > 5 us"):
        compiled("s1; s2 @(t(s2) - t(s1) > 5); s3 @(t(s3) - t(s2) > 5) WITHIN 8")


def test_a_contradiction_in_one_branch_closes_that_branch() -> None:
    automaton = compiled("s1; (s2 @(t(s2) - t(s1) < 3) @(t(s2) - t(s1) > 5) OR s3)")
    assert [arc.operand for arc in automaton.arcs] == [0, 2]
