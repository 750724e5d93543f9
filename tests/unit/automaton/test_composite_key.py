"""The partition that the matches of a composite subscription are in."""

from __future__ import annotations

import pytest

from broker.algebra.ptopss.lowering import lower
from broker.automaton.analyses.composite_key import composite_key, keyed_guards
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.composite import automaton_of_composite
from broker.events.schema import Schema
from broker.language.ptopss import parse

SCHEMA = Schema.declare({"ty": "string", "k": "int", "p": "float"})


def automaton(by: str, match: str) -> Automaton:
    defined = {"a": "ty = 'A' AND p > 1", "b": "p < 5", "c": "ty = 'A' OR ty = 'B'", "d": "ty = 'A' AND k = 1"}
    operands = " ".join(f"{name}: {asked}" for name, asked in defined.items() if name in match)
    text = f"FROM S{by} {operands} MATCH {match} WITHIN 9"
    return automaton_of_composite(lower(parse(text), text, lambda name: SCHEMA, lambda: ["S"]))


@pytest.mark.parametrize(
    ("by", "match", "key"),
    [
        (" BY ty", "a AND b", ["A"]),
        (" BY ty", "b; a", ["A"]),
        (" BY ty", "(b, c); a", ["A"]),
        (" BY ty", "(a OR d) AND b", ["A"]),
        (" BY ty", "a OR b", []),
        (" BY ty", "b AND c", []),
        (" BY k", "a AND b", []),
        ("", "a AND b", []),
        (" BY ty, k", "a AND d", ["A", 1]),
    ],
)
def test_a_key_is_what_every_match_takes(by: str, match: str, key: list[object]) -> None:
    found = composite_key(automaton(by, match))
    assert [found[place].value for place in sorted(found)] == key


def test_all_operands_ask_for_the_key() -> None:
    guards = keyed_guards(automaton(" BY ty", "a AND b"))
    key = guards[0][0][0]
    assert [clause.count(key) for guard in guards for clause in guard] == [1, 1]
