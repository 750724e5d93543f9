"""What static analysis finds in SASE+ patterns: keys, inputs, measures, what is remembered, what is alike."""

from __future__ import annotations

import pytest

from broker.algebra.normal_form import ALWAYS
from broker.algebra.sase.lowering import lower
from broker.automaton.analyses.measures import measures_of, monotone
from broker.automaton.analyses.memory import memories
from broker.automaton.analyses.pasts import shares_pasts
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.executors.kleene.kleene_plan import KleenePlan, compile_kleene
from broker.events.schema import Schema
from broker.language.sase import parse

SCHEMAS = {
    "S": Schema.declare({"k": "int", "p": "float", "w": "float", "ty": "string"}),
    "T": Schema.declare({"w": "float", "k": "int", "other": "int"}),
}
NEXT = "skip_till_next_match"
ANY = "skip_till_any_match"


def automaton(components: str, strategy: str, block: str, tail: str = " WITHIN 9") -> Automaton:
    names = ", ".join(part.split()[-1] for part in components.split(", ") if not part.startswith("~"))
    where = f"{strategy}({names})" + (f" {{ {block} }}" if block else "")
    text = f"PATTERN SEQ({components}) WHERE {where}{tail}"
    return automaton_of_pattern(lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0])


def planned(components: str, strategy: str, block: str, tail: str = " WITHIN 9", keyed: bool = True) -> KleenePlan:
    return compile_kleene(automaton(components, strategy, block, tail), keyed)


@pytest.mark.parametrize(
    ("components", "block", "expected"),
    [
        ("S a, T b", "[k]", [(0, 1)]),
        ("S a, T b", "b.other = a.k", [(0, 2)]),
        ("S a, T b", "[k] AND b.other = a.k", [(0, 1), (0, 2)]),
        ("S a, T b, S c", "b.other = a.k AND c.k = b.other", [(0, 2, 0)]),
        ("S a, T b, S c", "b.other = a.k", []),
        ("S a, S+ b[]", "b[1].k = a.k", []),
        ("S a, S+ b[]", "b[1].k = a.k AND b[i].k = a.k", [(0, 0)]),
        ("S a, S+ b[]", "b[1].k = a.k AND b[i].k = b[i-1].k", [(0, 0)]),
        ("S+ a[], S b", "b.k = a[1].k", []),
        ("S+ a[], S b", "b.k = a[a.LEN].k AND a[i].k = a[1].k", [(0, 0)]),
        ("S+ a[]", "a[i].k = a[1].k", []),
    ],
)
def test_joins_that_lead_through_all_events_make_a_key(
    components: str, block: str, expected: list[tuple[int, ...]]
) -> None:
    assert [part.positions for part in planned(components, NEXT, block).key] == expected


def test_what_the_key_answers_is_not_tested_again() -> None:
    plan = planned("S a, T b", NEXT, "[k] AND b.other = a.k AND b.w > a.p")
    joined = "operator='=', left=Attribute(side=<Side.EVENT: 'event'>, position=2"
    assert joined not in repr(plan.steps[1].begin_rest)
    assert joined in repr(planned("S a, T b", NEXT, "b.other = a.k", keyed=False).steps[1].begin_rest)


def test_equal_conditions_on_events_of_one_stream_are_one_input() -> None:
    plan = planned("S+ a[], S b", NEXT, "a[1].ty = 'A' AND a[i].ty = 'A' AND b.ty = 'B'")
    assert (len(plan.inputs), plan.steps[0].begin, plan.steps[0].take) == (2, 0, 0)


def test_a_negation_that_reads_more_than_the_key_looks_back() -> None:
    assert planned("S a, ~(T n), S b", NEXT, "[k] AND n.w > 1").negations[0].rest == ALWAYS
    assert planned("S a, ~(T n), S b", NEXT, "[k] AND n.w > a.p").negations[0].rest != ALWAYS
    assert planned("S a, ~(T n), S b", NEXT, "a.k = b.k AND n.other = b.k").negations[0].parts == (0,)
    assert planned("S a, ~(T n), S b", NEXT, "a.k = b.k").negations[0].parts == ()


RISING = "a[i].p > max(a[..i-1].p)"


@pytest.mark.parametrize(
    ("block", "columns", "stacks"),
    [
        ("a[i].p > avg(a[..i-1].p) AND b.w < 80% * a[a.LEN].w", True, False),
        (f"{RISING} AND b.w < a[a.LEN].w", True, True),
        ("a[i].p >= a[i-1].p", True, True),
        ("a[i].p < min(a[..i-1].p) AND b.p > min(a[].p)", True, True),
        ("a[i].p < max(a[..i-1].p)", True, False),
        ("a[i].w > max(a[..i-1].p)", True, False),
        (f"{RISING} AND b.w < a[1].w", True, False),
        (f"{RISING} AND a[i].ty = 'A'", True, False),
        (f"{RISING} AND a[1].ty = 'A' AND a[i].ty = 'A'", True, True),
        ("a[i].p - max(a[..i-1].p) > 1", False, False),
        ("a[i].ty = a[i-1].ty", False, False),
    ],
)
def test_conditions_that_compare_two_numbers_are_measures(block: str, columns: bool, stacks: bool) -> None:
    within = planned("S+ a[], S b", NEXT, block).automaton
    measures = measures_of(within)
    assert (measures is not None) == columns
    assert (measures is not None and monotone(within, measures)) == stacks


def test_only_skipping_till_the_next_match_has_one_run_for_each_first_event() -> None:
    assert measures_of(automaton("S+ a[], S b", "strict_contiguity", "")) is None
    assert measures_of(automaton("S c, S+ a[], S b", NEXT, "")) is None


@pytest.mark.parametrize(
    ("components", "strategy", "block", "tail", "shared"),
    [
        ("S+ a[], S b", ANY, "a[i].p > a[i-1].p", " WITHIN 9", True),
        ("S+ a[], S b", ANY, "a[i].p > avg(a[..i-1].p)", " WITHIN 9", False),
        ("S+ a[], S b", ANY, "", " WITHIN 9 RETURN avg(a[].p) AS p", True),
        ("S+ a[], S b", ANY, "", " WITHIN 9 OUTPUT nonoverlap", False),
        ("S+ a[], S b", NEXT, "", " WITHIN 9", False),
        ("S a", ANY, "", " WITHIN 9", False),
        ("S a, ~(S n), S b", ANY, "n.ty = 'A'", " WITHIN 9", True),
        ("S a, ~(S n), S b", ANY, "n.p > a.p", " WITHIN 9", False),
        ("~(S n), S a, S b", ANY, "n.ty = 'A'", " WITHIN 9", False),
    ],
)
def test_pasts_are_shared_where_few_runs_differ(
    components: str, strategy: str, block: str, tail: str, shared: bool
) -> None:
    assert shares_pasts(planned(components, strategy, block, tail).automaton) == shared


def test_only_what_is_still_read_is_remembered() -> None:
    states = memories(automaton("S a, S+ b[], S c", ANY, "b[i].p > a.w AND c.p > max(b[].w)"))
    first, second = states[1:3]
    assert [positions for _, positions in first.rows] == [(2,)]
    assert first.values == ()
    assert [positions for _, positions in second.rows] == [(2,)]
    assert len(second.values) == 1
    assert states[4].rows == ()
