"""Decomposition: figure 5, table 3, names and triggers; every operand in one machine, whatever the subscription."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from strategies.composite_subscriptions import lowered, subscriptions

from broker.algebra.functions import compare
from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.lowering import lower
from broker.algebra.structure import Condition, Primitive, order
from broker.automaton.constructions.composite import decompose
from broker.automaton.machines.boolean_machine import BooleanMachine
from broker.automaton.machines.decomposition import Machines, PlacedMachine, Trigger, machines_of
from broker.automaton.machines.state_machine import Case, StateMachine, Symbol, TimeCondition
from broker.events.schema import Schema
from broker.language import ptopss

SCHEMA = Schema.declare({"ty": "string", "ip": "string"})


def composite(pattern: str, definitions: str) -> Composite:
    text = f"FROM S\n{definitions}\nMATCH {pattern}"
    return lower(ptopss.parse(text), text, {"S": SCHEMA}.get, lambda: ["S"])


def batched(names: list[str]) -> list[tuple[str, str]]:
    return list(zip(names[::2], names[1::2], strict=True))


def machines(pattern: str, definitions: str = "") -> Machines:
    """Operands that are not defined are s1, s2, ..., each with a type of its own."""
    used = sorted(set(re.findall(r"\bs\d\b", pattern)))
    defined = definitions or "\n".join(f"{name}: ty = '{name[1]}'" for name in used)
    return machines_of(decompose(composite(pattern, defined)))


def symbols(machine: PlacedMachine) -> tuple[Symbol, ...]:
    return machine.body.symbols if isinstance(machine.body, StateMachine) else machine.body.inputs


def shown(decomposed: Machines) -> dict[str, str]:
    return {machine.name: str(machine.body) for machine in decomposed.machines}


FIGURE_5 = "s1; ((s2, s3) AND (s4, s5)); s6; (s7 OR s8)"
TABLE_3 = "s1; ((s2; s3) AND (s4, s5)); s6; (s7 OR s8)"


def test_figure_5_has_a_master_two_children_and_two_boolean_machines() -> None:
    found = machines(FIGURE_5)
    assert shown(found) == {
        "master": "s1; Z; s6; U",
        "Z": "X AND Y",
        "X": "s2, s3",
        "Y": "s4, s5",
        "U": "s7 OR s8",
    }
    gates = {each.name: each.body.gate for each in found.machines if isinstance(each.body, BooleanMachine)}
    assert gates == {"Z": "AND", "U": "OR"}
    master = found.master.body
    assert isinstance(master, StateMachine)
    assert master.boundaries == {1, 2, 3}
    assert list(master.states) == [0, 1, 2, 3, 4]


def test_figure_5_s_triggers_start_children_in_n1_and_lead_to_n2() -> None:
    found = {machine.name: machine for machine in machines(FIGURE_5).machines}
    assert (found["master"].in_trigger, found["master"].out_trigger) == (None, None)
    assert (found["Z"].in_trigger, found["Z"].out_trigger) == (Trigger(0, 1), Trigger(0, 2))
    assert (found["X"].in_trigger, found["X"].out_trigger) == (Trigger(1, None), Trigger(1, None))
    assert (found["U"].in_trigger, found["U"].out_trigger) == (Trigger(0, 3), Trigger(0, 4))
    names = [machine.name for machine in machines(FIGURE_5).machines]
    assert [machines(FIGURE_5).activation(names.index(name)) for name in "ZXYU"] == [(0, 1), (0, 1), (0, 1), (0, 3)]
    assert machines(FIGURE_5).activation(0) is None


@pytest.mark.parametrize(
    ("condition", "case", "owner"),
    [
        ("t(s3) - t(s2) < 5", Case.SAME, "X"),
        ("t(s6) - t(s1) < 5", Case.SAME, "master"),
        ("t(s2) - t(s1) < 5", Case.MASTER_TO_CHILD, "X"),
        ("t(s7) - t(s1) < 5", Case.MASTER_TO_CHILD, "U"),
        ("t(s6) - t(s4) < 5", Case.CHILD_TO_MASTER, "master"),
        ("t(s4) - t(s3) < 5", Case.UNORDERED, "Z"),
        ("t(s7) - t(s3) < 5", Case.ACROSS, "U"),
        ("t(s8) - t(s7) < 5", Case.APART, "U"),
    ],
)
def test_table_3_tells_the_cases_apart(condition: str, case: Case, owner: str) -> None:
    found = machines(f"({TABLE_3}) @({condition})")
    (placed,) = found.conditions
    assert placed.condition.case is case
    assert found.machines[placed.machine].name == owner


def holds(condition: TimeCondition, reference: int, dependent: int) -> bool:
    difference = dependent - reference
    found = abs(difference) if condition.case is Case.UNORDERED else difference
    return compare(condition.operator, found, condition.duration)


def whereabouts(found: Machines) -> list[tuple[str, TimeCondition]]:
    """Where conditions are tested: a symbol or a gate, by name."""
    places = []
    for machine in found.machines:
        places += [(symbol.name, condition) for symbol in symbols(machine) for condition in symbol.conditions]
        if isinstance(machine.body, BooleanMachine):
            places += [(machine.name, condition) for condition in machine.body.conditions]
    return places


def test_conditions_stand_on_the_later_operand_or_on_the_gate() -> None:
    found = machines(
        "s1; ((s2; s3 @(t(s3) - t(s2) < 3)) AND (s4, s5)) @(t(s3) - t(s4) < 2); s6 @(t(s4) - t(s6) != 9); (s7 OR s8)"
        "@(t(s7) - t(s8) < 1)"
    )
    assert [(name, condition.text) for name, condition in whereabouts(found)] == [
        ("s6", "t(s4) - t(s6) != 9 us"),
        ("Z", "|t(s3) - t(s4)| < 2 us"),
        ("s3", "t(s3) - t(s2) < 3 us"),
    ]


def test_a_condition_is_the_same_whichever_way_it_is_written() -> None:
    one = machines("s1; s2 @(t(s2) - t(s1) != 0)", "s1, s2: ty = '1'")
    other = machines("s1; s2 @(t(s1) - t(s2) != 0)", "s1, s2: ty = '1'")
    assert one.master.body == other.master.body
    assert one.conditions[0].condition.text != other.conditions[0].condition.text


def test_a_difference_from_the_later_operand_is_turned_round() -> None:
    written = replace(composite("s1; s2", "s1, s2: ty = '1'"), conditions=(Condition(0, 1, ">", 3),))
    condition = machines_of(decompose(written)).conditions[0].condition
    assert (condition.operator, condition.duration) == ("<", -3)
    assert not holds(condition, reference=10, dependent=12)
    assert holds(condition, reference=12, dependent=8)


def test_differences_between_unordered_operands_are_absolute() -> None:
    condition = machines("s1 AND s2 @(t(s2) - t(s1) < 3)").conditions[0].condition
    assert [holds(condition, 10, time) for time in (7, 8, 12, 13)] == [False, True, True, False]


def test_sequences_within_sequences_are_one_machine() -> None:
    assert shown(machines("s1; (s2, (s3; s4)); s5")) == {"master": "s1; s2, s3; s4; s5"}
    assert machines("s1; (s2, (s3; s4)); s5").master.body == machines("s1; s2, s3; s4; s5").master.body


def test_one_operand_is_a_machine_of_two_states() -> None:
    master = machines("s1", "s1: ty = '1'").master.body
    assert isinstance(master, StateMachine)
    assert list(master.states) == [0, 1]
    assert len(master.symbols) == 1
    assert not master.boundaries


def test_the_master_may_be_a_boolean_machine_and_gates_may_nest() -> None:
    found = machines("(s1 OR (s2 AND s3)) AND (s4; s5)")
    assert shown(found) == {"master": "Y AND Z", "Y": "s1 OR X", "X": "s2 AND s3", "Z": "s4; s5"}
    assert all(found.activation(index) is None for index in range(4))


def test_names_of_machines_avoid_those_of_operands() -> None:
    found = machines("X; ((Z OR (Y, s4)) AND s5)", "X, Y, Z: ty = '1'\ns4, s5: ty = '2'")
    assert shown(found) == {"master": "X; W", "W": "V AND s5", "V": "Z OR U", "U": "Y, s4"}


def test_there_are_names_for_any_number_of_machines() -> None:
    names = [f"s{i}" for i in range(16)]
    pairs = " AND ".join(f"({a}, {b})" for a, b in batched(names))
    found = machines(pairs, f"{', '.join(names)}: ty = '1'")
    assert [machine.name for machine in found.machines] == ["master", "X", "Y", "Z", "U", "V", "W", "X2", "Y2"]


def test_definitions_say_what_a_primitive_is() -> None:
    found = machines("a; b; c", "a: ip = $x AND ty = 'denied'\nb: ty = '1' OR ty = '2'\nc: TRUE")
    assert found.definitions == (
        ("a", "ip = $x AND ty = 'denied'"),
        ("b", "ty = '1' OR ty = '2'"),
        ("c", "TRUE"),
    )


@given(subscriptions())
def test_each_operand_and_each_machine_is_one_symbol(text: str) -> None:
    subscription = lowered(text)
    found = machines_of(decompose(subscription))
    primitive: list[str] = []
    derived: list[str] = []
    for index, machine in enumerate(found.machines):
        for position, symbol in enumerate(symbols(machine)):
            child = found.children()[index].get(position)
            (primitive if child is None else derived).append(symbol.name)
            assert isinstance(symbol.label, Primitive) is (child is None)
            if child is not None:
                assert found.machines[child].name == symbol.name
                assert found.machines[child].body == symbol.label
    assert sorted(primitive) == sorted(subscription.names)
    assert sorted(derived) == sorted(machine.name for machine in found.machines[1:])


@given(subscriptions())
def test_cases_agree_with_the_order_of_operands(text: str) -> None:
    subscription = lowered(text)
    found = machines_of(decompose(subscription))
    assert len(found.conditions) == len(subscription.conditions)
    for written, placed in zip(subscription.conditions, found.conditions, strict=True):
        condition = placed.condition
        reference, dependent = sorted((written.minuend, written.subtrahend))
        how = order(subscription.structure, reference, dependent)
        assert (condition.case is Case.UNORDERED) is (how == "unordered")
        assert (condition.case is Case.APART) is (how == "exclusive")
        if how == "ordered":
            sign = 1 if written.minuend == dependent else -1
            for time in range(-9, 10):
                assert holds(condition, 0, time) == compare(written.operator, sign * time, written.duration)
    wanted = {placed.condition for placed in found.conditions if placed.condition.case is not Case.APART}
    assert {condition for _, condition in whereabouts(found)} == wanted
