"""Facts of automata, asked alike of all languages."""

from __future__ import annotations

import pytest

from broker.algebra.cayuga.lowering import lower as lower_cayuga
from broker.algebra.ptopss.lowering import lower as lower_ptopss
from broker.algebra.sase.lowering import lower as lower_sase
from broker.automaton.analyses.ignoring import asks_for_adjacent_events, may_skip_any_event
from broker.automaton.analyses.line import line_of
from broker.automaton.analyses.sequences import sequences_of
from broker.automaton.analyses.window import is_one_event, looks_ahead, looks_back, window_of
from broker.automaton.automaton import Automaton, Report
from broker.automaton.compilation import compile_query
from broker.automaton.constructions.composite import automaton_of_composite
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.events.schema import Schema
from broker.language.cayuga import parse as parse_cayuga
from broker.language.ptopss import parse as parse_ptopss
from broker.language.sase import parse as parse_sase

SCHEMAS = {"S": Schema.declare({"k": "string", "v": "int"})}


def cayuga(text: str) -> Automaton:
    (automaton,) = compile_query(lower_cayuga(parse_cayuga(text), text, SCHEMAS.get, lambda: ["S"])).automata
    return automaton


def sase(text: str) -> Automaton:
    return automaton_of_pattern(lower_sase(parse_sase(text), text, SCHEMAS.get, lambda: ["S"]))


def ptopss(text: str) -> Automaton:
    composite = lower_ptopss(parse_ptopss(text), text, SCHEMAS.get, lambda: ["S"])
    return automaton_of_composite(composite, Report.COMPLETIONS)


def pattern(strategy: str, components: str = "S a, S b", rest: str = "WITHIN 5") -> Automaton:
    return sase(f"PATTERN SEQ({components}) WHERE {strategy}(a, b) {{ a.v = 1 }} {rest} RETURN a.v")


@pytest.mark.parametrize(
    "automaton", [cayuga("FILTER{v = 1}(S)"), sase("PATTERN SEQ(S a) RETURN a.v"), ptopss("FROM S a: v = 1 MATCH a")]
)
def test_a_match_of_one_event_is_known_as_such_in_every_language(automaton: Automaton) -> None:
    assert is_one_event(automaton)
    assert window_of(automaton) == 0


def test_the_window_is_what_the_text_says_and_what_lies_outside_of_it_is_known() -> None:
    assert window_of(pattern("skip_till_next_match")) == 5
    assert window_of(ptopss("FROM S a: v = 1 b: v = 2 MATCH a; b WITHIN 7 s")) == 7_000_000
    assert window_of(ptopss("FROM S a: v = 1 b: v = 2 MATCH a; b")) is None
    before = pattern("skip_till_next_match", "~(S n), S a, S b")
    behind = pattern("skip_till_next_match", "S a, S b, ~(S n)")
    assert (looks_back(before), looks_ahead(before)) == (True, False)
    assert (looks_back(behind), looks_ahead(behind)) == (False, True)


def test_what_may_pass_by_a_run_is_a_fact_of_its_states() -> None:
    assert asks_for_adjacent_events(pattern("strict_contiguity"))
    assert not asks_for_adjacent_events(pattern("skip_till_next_match"))
    assert may_skip_any_event(pattern("skip_till_any_match"))
    assert not may_skip_any_event(pattern("skip_till_next_match"))


def test_a_pattern_is_a_line_of_its_operands_and_a_chain_of_words_is_sequences() -> None:
    rising = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { a[i].v > 1 } WITHIN 5 RETURN b.v"
    assert [link.take is not None for link in line_of(sase(rising))] == [True, False]
    assert sequences_of(ptopss("FROM S a: v = 1 b: v = 2 c: v = 3 MATCH a, b; c")) == [[0, 1], [2]]
    assert sequences_of(ptopss("FROM S a: v = 1 b: v = 2 MATCH a AND b")) is None
    assert sequences_of(ptopss("FROM S BY k a: v = 1 b: v = 2 MATCH a, b")) is None
