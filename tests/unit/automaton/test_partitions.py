"""The partition that the matches of a composite subscription are in."""

from __future__ import annotations

import pytest

from broker.algebra.ptopss.lowering import lower
from broker.automaton.analyses.event_constants import equality
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.automaton.rewriting.partitions import asking_for_partition
from broker.events.schema import Schema
from broker.language.ptopss import parse

SCHEMA = Schema.declare({"ty": "string", "k": "int", "p": "float"})


def automaton(by: str, match: str) -> Automaton:
    defined = {"a": "ty = 'A' AND p > 1", "b": "p < 5", "c": "ty = 'A' OR ty = 'B'", "d": "ty = 'A' AND k = 1"}
    operands = " ".join(f"{name}: {asked}" for name, asked in defined.items() if name in match)
    text = f"FROM S{by} {operands} MATCH {match} WITHIN 9"
    return automaton_of(decompose(lower(parse(text), text, lambda name: SCHEMA, lambda: ["S"])))


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
def test_all_operands_are_asked_for_what_every_match_has_in_its_key(by: str, match: str, key: list[object]) -> None:
    written = automaton(by, match)
    asking = asking_for_partition(written)
    assert asking.machines is not None
    assert asking.sources == written.sources
    assert key or asking.machines == written.machines
    for clause in [clause for primitive in asking.machines.primitives for clause in primitive.guard]:
        equal = [equality(atom) for atom in clause]
        found = [(each[0].position, each[1].value) for each in equal if each is not None]
        assert set(zip(asking.sources[0].key, key)) <= set(found)
        assert len(set(clause)) == len(clause)
