"""Automata of several branches: put together of the lines of variants, and taken apart into the same lines."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from strategies.sase import lacking, variants

from broker.algebra.sase.pattern import schema_of_variants
from broker.automaton.analyses.branches import branches_of
from broker.automaton.analyses.line import is_plain_line
from broker.automaton.automaton import Kind
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.automaton.constructions.variants import automaton_of_variants


@given(lacking())
def test_what_is_put_together_is_taken_apart(text: str) -> None:
    lowered = variants(text)
    whole = automaton_of_variants(lowered)
    if len(lowered) == 1:
        assert whole == automaton_of_pattern(lowered[0])
        assert branches_of(whole) == ()
        return
    assert not is_plain_line(whole)
    found = branches_of(whole)
    assert [branch.operands for branch in found] == [pattern.operands for pattern in lowered]
    for branch, pattern in zip(found, lowered):
        line = replace(automaton_of_pattern(pattern), schema=schema_of_variants(lowered))
        if not pattern.components[0].kleene:  # how a run stays at the start has no meaning
            line = replace(line, states=(branch.automaton.states[0], *line.states[1:]))
        assert branch.automaton == replace(line, forbidden=branch.automaton.forbidden)
        names = [line.forbidden[arc.operand] for arc in line.arcs if arc.kind is Kind.KILL]
        own = branch.automaton
        assert [own.forbidden[arc.operand] for arc in own.arcs if arc.kind is Kind.KILL] == names


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("PATTERN SEQ(S a)", True),
        ("PATTERN SEQ(S+ a[], ~(S n), T b) WHERE skip_till_any_match(a, b) { [k] } WITHIN 5", True),
        ("PATTERN SEQ(S a, S? b)", False),
    ],
)
def test_plain_patterns_are_lines(text: str, plain: bool) -> None:
    assert is_plain_line(automaton_of_variants(variants(text))) is plain
