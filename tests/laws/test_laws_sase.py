"""SASE+ machines against the executable meaning, on random patterns and streams: each result at its moment.

However runs are kept, and across snapshots. The truth is semantics_sase.
"""

from __future__ import annotations

import msgpack
from doubles.kleene_player import END, Player, Result, expected
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.kleene_shapes import columnar, monotone, sharing
from strategies.sase import histories, lowered, queries

from broker.algebra.sase import semantics as meaning
from broker.algebra.sase.pattern import Pattern
from broker.algebra.sase.semantics import Event
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.executors.kleene.kleene_plan import compile_kleene
from broker.engine.executors.kleene.machine import KleeneMachine

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
medium = settings(max_examples=max(300, 3 * settings().max_examples), suppress_health_check=slow, deadline=None)
heavy = settings(max_examples=max(600, 6 * settings().max_examples), suppress_health_check=slow, deadline=None)

NEVER = 99


def truth(pattern: Pattern, history: list[Event]) -> list[list[Result]]:
    """The results by event, those that time completes at the first event after; at the end those that no event does."""
    found: list[list[Result]] = [[] for _ in range(len(history) + 1)]
    for assignment in meaning.matches(pattern, history):
        values = meaning.returned(pattern, history, assignment)
        moment = assignment[-1][-1]
        if pattern.trailing:
            after = meaning.known_after(pattern, history, assignment)
            moment = next((at for at, (_, time, _) in enumerate(history) if time > after), len(history))
        found[moment].append(expected(pattern, history, assignment, values))
    return found


def agrees(text: str, history: list[Event], keyed: bool, columns: bool, reborn: int = NEVER) -> str:
    """The machine makes exactly the matches, whether a snapshot is taken before event `reborn` or not; its method."""
    note(text)
    pattern = lowered(text)
    plan = compile_kleene(automaton_of_pattern(pattern), keyed)
    player = Player(plan, KleeneMachine(plan, None, columns))
    note(player.machine.method)
    found: list[list[Result]] = []
    for number, event in enumerate(history):
        if number == reborn:
            saved = msgpack.unpackb(msgpack.packb(player.machine.dump()), use_list=False, strict_map_key=False)
            player.machine = KleeneMachine(plan, None, columns)
            player.machine.load(saved)
            player.machine.check_invariants()
        found.append(player.pass_time(event[1]) + player.take(event))
    found.append(player.pass_time(END))
    assert [sorted(f, key=repr) for f in found] == [sorted(f, key=repr) for f in truth(pattern, history)]
    return str(player.machine.method)


moments = st.sampled_from([NEVER, NEVER, 2, 4, 6])


@heavy
@given(queries(), histories(), st.booleans(), st.booleans(), moments)
def test_machines_make_exactly_the_matches(
    text: str, history: list[Event], keyed: bool, plain: bool, reborn: int
) -> None:
    agrees(text, history, keyed, not plain, reborn)


@medium
@given(columnar(), histories(9), st.booleans(), moments)
def test_columns_make_exactly_the_matches(text: str, history: list[Event], keyed: bool, reborn: int) -> None:
    agrees(text, history, keyed, True, reborn)


@medium
@given(monotone(), histories(9), st.booleans(), moments)
def test_stacks_make_exactly_the_matches(text: str, history: list[Event], keyed: bool, reborn: int) -> None:
    agrees(text, history, keyed, True, reborn)


@medium
@given(sharing(), histories(), st.booleans(), moments)
def test_groups_make_exactly_the_matches(text: str, history: list[Event], keyed: bool, reborn: int) -> None:
    agrees(text, history, keyed, True, reborn)


@medium
@given(st.one_of(columnar("skip_till_any_match"), columnar("strict_contiguity")), histories(), moments)
def test_other_strategies_make_exactly_the_matches(text: str, history: list[Event], reborn: int) -> None:
    agrees(text, history, True, True, reborn)
