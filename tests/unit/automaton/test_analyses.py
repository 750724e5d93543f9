"""Facts of automata, asked alike of all languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker.algebra.cayuga.lowering import lower as lower_cayuga
from broker.algebra.ptopss.lowering import lower as lower_ptopss
from broker.algebra.sase.lowering import lower as lower_sase
from broker.automaton.analyses.agreement import Crossing, crossing
from broker.automaton.analyses.chain_keys import chain_keys
from broker.automaton.analyses.grouping import grouping_of
from broker.automaton.analyses.line import line_of
from broker.automaton.analyses.sequences import sequences_of
from broker.automaton.analyses.template import Grouping
from broker.automaton.analyses.window import is_one_event, looks_ahead, looks_back, window_of
from broker.automaton.automaton import Arc, Automaton, Kind, Report, Stay
from broker.automaton.compilation import compile_query
from broker.automaton.constructions.composite import automaton_of, decompose
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
    return automaton_of_pattern(lower_sase(parse_sase(text), text, SCHEMAS.get, lambda: ["S"])[0])


def ptopss(text: str) -> Automaton:
    composite = lower_ptopss(parse_ptopss(text), text, SCHEMAS.get, lambda: ["S"])
    return automaton_of(decompose(composite), Report.COMPLETIONS)


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


def test_a_pattern_is_a_line_of_its_operands_and_a_chain_of_words_is_sequences() -> None:
    rising = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { a[i].v > 1 } WITHIN 5 RETURN b.v"
    assert [link.take is not None for link in line_of(sase(rising))] == [True, False]
    assert sequences_of(ptopss("FROM S a: v = 1 b: v = 2 c: v = 3 MATCH a, b; c")) == [[0, 1], [2]]
    assert sequences_of(ptopss("FROM S a: v = 1 b: v = 2 MATCH a AND b")) is None
    assert sequences_of(ptopss("FROM S BY k a: v = 1 b: v = 2 MATCH a, b")) is None


K, V = {"S": 0}, {"S": 1}


def line(
    condition: str, components: str = "S a, S b", strategy: str = "skip_till_any_match", rest: str = ""
) -> Automaton:
    return sase(f"PATTERN SEQ({components}) WHERE {strategy}(a, b) {{ {condition} }} WITHIN 5 RETURN a.v {rest}")


@pytest.mark.parametrize(
    ("automaton", "by_k"),
    [
        (cayuga("FILTER{v = 1}(S)"), None),
        (cayuga("S NEXT{$2.k = $1.k} S"), None),
        (cayuga("S FOLD{$2.k = $.k, $2.v > $.v} S"), None),
        (cayuga("S FOLD{$2.v > $.v} S"), Crossing.TAKEN),
        (cayuga("FILTER{k = 'x'}(S) NEXT{$2.k = 'x'} S"), None),
        (cayuga("FILTER{k = 'x'}(S) NEXT{$2.k = 'y'} S"), Crossing.TAKEN),
        (sase("PATTERN SEQ(S a) RETURN a.v"), None),
        (line("[k]"), None),
        (line("[k]", strategy="strict_contiguity"), Crossing.NEXT_EVENT),
        (line("[v] AND b.k = a.k", strategy="partition_contiguity"), Crossing.NEXT_OF_PARTITION),
        (line("b.k = a.k", "S a, ~(S n), S b"), Crossing.FORBIDDEN),
        (line("b.k = a.k AND n.k = b.k", "S a, ~(S n), S b"), None),
        (line("[v] AND b.k = a.k", rest="OUTPUT nonoverlap"), Crossing.OVERLAPPED),
        (line("a.k = 'x' AND b.k = 'x'"), None),
        (ptopss("FROM S a: v = 1 MATCH a"), None),
        (ptopss("FROM S BY k a: v = 1 b: v = 2 MATCH a, b"), None),
        (ptopss("FROM S a: k = $x b: k = $x MATCH a AND b"), None),
        (ptopss("FROM S a: k = $x b: k = $x MATCH a, b"), Crossing.NEXT_EVENT),
        (ptopss("FROM S a: v = 1 b: v = 2 MATCH a OR b"), None),
        (ptopss("FROM S a: k = $x b: v = 2 MATCH a; b"), Crossing.TAKEN),
    ],
)
def test_whether_events_of_other_keys_matter_is_found_alike_in_every_language(
    automaton: Automaton, by_k: Crossing | None
) -> None:
    assert crossing(automaton, K) is by_k


def test_what_keeps_to_one_key_need_not_keep_to_another() -> None:
    assert crossing(cayuga("S NEXT{$2.k = $1.k} S"), V) is Crossing.TAKEN
    assert crossing(line("[k]"), V) is Crossing.TAKEN
    assert crossing(line("[k]"), {}) is Crossing.TAKEN


def test_a_start_that_takes_several_events_has_no_first_one() -> None:
    one = cayuga("S")
    loop = Arc(0, 0, one.arcs[0].guard, kind=Kind.LOOP)
    several = replace(one, arcs=(loop, *one.arcs))
    assert not is_one_event(several)
    assert crossing(several, K) is Crossing.TAKEN


def test_the_key_of_a_chain_is_what_parts_the_sources_else_what_streams_declare() -> None:
    kept, free = cayuga("S NEXT{$2.k = $1.k} S"), cayuga("S NEXT{$2.v > $1.v} S")
    assert chain_keys((kept,), ["S"], K) == (("S", (0,)),)
    assert chain_keys((kept, free), ["S"], K) == chain_keys((kept,), ["S"], {}) == (("S", ()),)
    joined = ptopss("FROM S BY v a: k = $x b: k = $x MATCH a; b")
    assert chain_keys((joined,), ["S"], {}) == (("S", (1, 0)),)
    assert chain_keys((ptopss("FROM S a: v = 1 b: v = 2 MATCH a; b"),), ["S"], K) == (("S", ()),)
    assert chain_keys((line("[k]"),), ["S"], {}) == (("S", (0,)),)
    assert chain_keys((line("b.k = a.k"),), ["S"], K) == (("S", ()),)


def test_the_window_of_a_run_over_intervals_is_what_its_duration_bounds() -> None:
    assert window_of(cayuga("FILTER{DUR <= 7}(S NEXT{$2.v > $1.v} S)")) == 7
    assert window_of(cayuga("S NEXT{$2.v > $1.v} S")) is None


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("FILTER{k = 'A'}(S) NEXT{$2.k = $1.k AND $2.v < 3} S", True),
        ("FILTER{k = 'A'}(S) NEXT{$2.k = $1.k AND $2.v < 3 AND $2.v > 1} S", True),
        ("FILTER{v > 5}(FILTER{k = 'A'}(S) NEXT{$2.k = $1.k AND $2.v < 3} S)", False),  # a run may end without a match
        ("FILTER{k = 'A'}(S) NEXT{$2.k = $1.k} S", False),
        ("FILTER{k = 'A'}(S) NEXT{$2.v < 3} S", False),  # of any key
        ("FILTER{v > 5}(S) NEXT{$2.k = $1.k AND $2.v < 3} S", False),
        ("FILTER{k = 'A'}(S) NEXT{$2.k = $1.k AND $2.v < $1.v AND $2.v < 3} S", False),
        ("FILTER{k = 'A'}(S)", False),
    ],
)
def test_runs_over_epochs_wait_for_numbers_if_nothing_else_is_asked(text: str, waits: bool) -> None:
    found = grouping_of(cayuga(text))
    steps = found.template.steps if isinstance(found, Grouping) else ()
    assert any(step.stay is Stay.UNTAKEN for step in steps) == waits


@pytest.mark.parametrize(
    ("strategy", "conditions", "within", "texts"),
    [
        ("skip_till_next_match", "a.k = 'A' AND b.k = 'B' AND b.v > 1", "WITHIN 5", 2),
        ("skip_till_next_match", "a.k = 'A' AND b.k = 'B' AND b.v > 1", "", 0),
        ("skip_till_any_match", "a.k = 'A' AND b.k = 'B' AND b.v > 1", "WITHIN 5", 2),
        ("strict_contiguity", "a.k = 'A' AND b.k = 'B' AND b.v > 1", "WITHIN 5", 2),
        ("strict_contiguity", "a.k = 'A' AND b.k = 'B' AND b.v > 1", "", 2),
        ("partition_contiguity", "[k] AND a.k = 'A' AND b.v > 1", "WITHIN 5", 0),
        ("skip_till_next_match", "a.k = 'A' AND b.v > 1", "WITHIN 5", 0),
        ("skip_till_any_match", "a.k = 'A' AND b.v > 1", "WITHIN 5", 2),
        ("skip_till_next_match", "a.k = 'A' AND b.k = 'A' AND b.v > 1", "WITHIN 5", 0),
        ("skip_till_next_match", "a.k = 'A' AND b.k = 'B' AND a.v > 1 AND b.v > a.v", "WITHIN 5", 0),
    ],
)
def test_events_have_texts_of_their_own_in_pairs_that_are_compared_with_numbers(
    strategy: str, conditions: str, within: str, texts: int
) -> None:
    found = grouping_of(sase(f"PATTERN SEQ(S a, S b) WHERE {strategy}(a, b) {{ {conditions} }} {within}"))
    assert isinstance(found, Grouping)
    assert len(found.template.texts) == texts
