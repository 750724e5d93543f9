"""How an automaton's tuples are to be counted: the table of methods."""

from __future__ import annotations

import pytest
from strategies.composite_subscriptions import lowered

from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine.executors.tuple_counts.counting_plan import CountingPlan, counting_plan


def compiled(match: str, defined: str = "a, b, c, d, e: TRUE") -> CountingPlan:
    return counting_plan(automaton_of(decompose(lowered(f"FROM S\n{defined}\nMATCH {match}"))))


@pytest.mark.parametrize(
    ("match", "counted"),
    [
        ("a; b, c; (d AND e)", "one total a state"),
        ("a; b; c @(t(c) - t(a) < 5); d; e", "windows"),
        ("a; b; c; d; e WITHIN 5", "windows"),
        ("a; b; (c AND d); e WITHIN 5", "windows"),
        ("(a AND b); c; d; e WITHIN 5", "windows"),
        ("a; b; (c OR d); e WITHIN 5", "windows"),
        ("a; b; c @(t(c) - t(a) < 5); d; e @(t(e) - t(d) < 5)", "windows"),
        ("a; b; c @(t(c) - t(a) < 5); d; e @(t(e) - t(c) < 5)", "windows"),
        ("a; b @(t(b) - t(a) > 5); c @(t(c) - t(b) > 2) @(t(c) - t(b) < 7); d; e", "cells keyed by 1 time"),
        ("a; b; c @(t(c) - t(a) = 5); d; e", "cells keyed by 1 time"),
        ("a, b; c; d; e WITHIN 5", "windows"),
        ("a, b, c @(t(c) - t(a) < 5); d; e", "one total a state"),
        ("a; b; c @(t(c) - t(a) != 5); d; e", "cells keyed by 1 time"),
        ("a; b; c @(t(c) - t(a) < 5); d @(t(d) - t(a) < 9); e", "cells keyed by 1 time"),
        ("(a AND b) @(t(b) - t(a) < 5); c; d; e", "windows"),
        ("a; b; c @(t(c) - t(a) < 5); d @(t(d) - t(b) < 5); e", "cells keyed by 2 times"),
        ("a; b; c; d @(t(d) - t(b) < 5); e @(t(e) - t(a) < 9)", "cells keyed by 2 times"),
        ("a; b; c @(t(c) - t(b) < 5); d; e WITHIN 9", "cells keyed by 2 times"),
        (
            "a; b; c; d @(t(d) - t(a) < 5) @(t(d) - t(b) < 4) @(t(d) - t(c) > 1); e",
            "cells keyed by 3 times, limited in number",
        ),
    ],
)
def test_methods(match: str, counted: str) -> None:
    automaton = compiled(match)
    assert automaton.method(automaton.uses_windows(tuples=False)) == counted


def test_the_times_of_a_contiguous_run_are_one() -> None:
    automaton = compiled("a, b, c; d @(t(d) - t(a) < 5) @(t(d) - t(b) < 4) @(t(d) - t(c) > 1); e")
    assert automaton.width == 1


def test_the_first_event_is_no_time_of_its_own_where_it_is_that_of_an_operand() -> None:
    assert compiled("(a AND b) @(t(b) - t(a) < 3); c; d; e WITHIN 5").width == 1
    assert compiled("(a AND b AND c) @(t(b) - t(a) < 3); d; e WITHIN 5").width == 2


def test_tuples_are_handed_out_by_windows_where_each_state_holds_them_in_order() -> None:
    assert compiled("a; b; c @(t(c) - t(a) < 5); d; e").uses_windows(tuples=True)
    assert not compiled("a; b; c @(t(c) - t(a) > 5); d; e").uses_windows(tuples=True)
    assert not compiled("a; (b AND c); d; e WITHIN 5").uses_windows(tuples=True)
    assert compiled("a; (b AND c); d; e").uses_windows(tuples=True)


def test_variables_in_states_need_cells_and_a_key_does_not() -> None:
    some = compiled("a; b; c; d; e", "a, b: k = $x\nc, d, e: TRUE")
    assert some.method(some.uses_windows(tuples=False)) == "one total a state and binding"
    every = compiled("a; b; c; d; e WITHIN 5", "a, b, c, d, e: k = $x")
    assert every.method(every.uses_windows(tuples=False)) == "windows"


@pytest.mark.parametrize(
    ("match", "horizon"),
    [
        ("a; b; c; d; e WITHIN 5", 5),
        ("a; b; c @(t(c) - t(a) < 5); d; e", None),
        ("a; b @(t(b) - t(a) < 5); c @(t(c) - t(b) <= 9); d @(t(d) - t(c) < 3), e", 9),
        ("a; b; c; d; e @(t(e) - t(a) > 5)", None),
        ("a, b, c, d, e", 0),
    ],
)
def test_how_long_a_match_can_be_of_use(match: str, horizon: int | None) -> None:
    assert compiled(match).horizon == horizon
