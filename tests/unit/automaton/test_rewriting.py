"""The rules of the normal form: what each does, and the conditions under which it would be wrong to do it."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

import pytest

from broker.algebra.cayuga.lowering import lower as lower_cel
from broker.algebra.normal_form import ALWAYS, describe_form
from broker.algebra.ptopss.lowering import lower as lower_ptopss
from broker.algebra.sase.lowering import lower as lower_sase
from broker.algebra.timed_stream import is_timed
from broker.automaton import rewriting
from broker.automaton.automaton import Arc, Automaton, Kind
from broker.automaton.compilation import compile_query
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.automaton.constructions.variants import automaton_of_variants
from broker.automaton.rewriting.differences import differences
from broker.automaton.rewriting.facts import Facts
from broker.automaton.rewriting.rule import Rule
from broker.automaton.rewriting.table import RULES, Rewriting, rewritten
from broker.engine import Engine, Options
from broker.engine.executors.reference.interpreter import Interpreter
from broker.events.instant import format_duration
from broker.events.schema import Row, Schema
from broker.language.cayuga import parse as parse_cel
from broker.language.ptopss import parse as parse_ptopss
from broker.language.sase import parse as parse_sase

COLUMNS = {"name": "string", "price": "float", "volume": "int", "kind": "string?"}
SCHEMA = Schema.declare(COLUMNS)
OTHER = Schema.declare({"sym": "string", "name": "int", "price": "float"})
WIDTHS = {"Stock with time": len(SCHEMA), "Quote with time": len(OTHER)}
ALL = tuple(rule.name for rule in RULES)
SECOND = 1_000_000
Events = Sequence[Row]


def normalised(automaton: Automaton, off: Sequence[str] = (), forecast: bool = False) -> Automaton:
    return rewritten(automaton, off, forecast, WIDTHS).automaton


def schema_of(stream: str) -> Schema:
    return OTHER if stream == "Quote" else SCHEMA


def cel(text: str) -> Automaton:
    (automaton,) = compile_query(lower_cel(parse_cel(text), text, schema_of, list)).automata
    return automaton


def sase(text: str) -> Automaton:
    return automaton_of_variants(lower_sase(parse_sase(text), text, schema_of, list))


def ptopss(text: str) -> Automaton:
    return automaton_of(decompose(lower_ptopss(parse_ptopss(text), text, schema_of, list)))


def conditions(automaton: Automaton) -> list[str]:
    """Thetas and guards in the order of states, those that are always true left out, then WITHIN."""
    found = []
    for number, state in enumerate(automaton.states):
        arcs = [arc for arc in automaton.arcs if arc.source == number]
        found += [state.theta, *[form for arc in arcs for form in (arc.guard, arc.rest)]]
    within = [] if automaton.within is None else [f"WITHIN {format_duration(automaton.within)}"]
    return [describe_form(form) for form in found if form != ALWAYS] + within


def shown(rule: object, automaton: Automaton) -> list[str]:
    """What a rule alone makes of an automaton."""
    return conditions(rule(automaton, Facts(automaton, WIDTHS))[0])  # type: ignore[operator]


def matches(automaton: Automaton, events: Events) -> list[list[int]]:
    """The matches on events of Stock, a second apart, each as the numbers of its events."""
    (stream, *_) = automaton.streams()
    interpreter = Interpreter(automaton)
    found = []
    for number, row in enumerate(events):
        time = number * SECOND
        found += interpreter.feed(stream, time, time, (*row, time, time) if is_timed(stream) else row, number)
    found += interpreter.advance(1 << 50)
    return [[event.number for _, event in match.taken] for match in found]


def unchanged(automaton: Automaton, events: Events) -> list[list[int]]:
    """The matches of an automaton, which are those of its normal form by each rule alone and by all."""
    expected = matches(automaton, events)
    assert matches(normalised(automaton), events) == expected
    for name in ALL:
        off = [other for other in ALL if other != name]
        assert matches(normalised(automaton, off), events) == expected, name
    return expected


def test_each_file_of_a_rule_has_an_example() -> None:
    tried = 0
    for module in iter_modules(rewriting.__path__):
        names = {"cel": cel, "sase": sase, "ptopss": ptopss, "shown": shown}
        found = doctest.testmod(import_module(f"broker.automaton.rewriting.{module.name}"), extraglobs=names)
        assert not found.failed, module.name
        tried += bool(found.attempted)
    assert tried > len(RULES)


ONE = "FILTER{name = 'A' AND price > 5.0}(Stock)"
NEXT = [
    f"SELECT * FROM {ONE} NEXT{{$2.name = $1.name AND $2.price < 3.0}} Stock",
    f"SELECT * FROM {ONE} NEXT{{$2.name = 'A' AND $2.price < 3.0}} Stock",
    f"SELECT * FROM {ONE} NEXT{{NOT ($2.price >= 3.0 OR $2.name != 'A')}} Stock",
    f"SELECT * FROM {ONE} NEXT{{$2.name = 'A' AND $1.name = $2.name AND $2.price < 3.0 AND $2.price < 4.0}} Stock",
    "SELECT * FROM FILTER{price_1 > 5.0}(FILTER{name = 'A'}(Stock) NEXT{$2.name = 'A' AND $2.price < 3.0} Stock)",
    "SELECT * FROM FILTER{name = 'A' AND price_1 > 5.0}(Stock NEXT{$2.name = $1.name AND $2.price < 3.0} Stock)",
    "SELECT * FROM FILTER{-price_1 < -5.0}(FILTER{name = 'A'}(Stock) NEXT{$1.name = $2.name AND $2.price < 3.0} Stock)",
    "SELECT * FROM Stock NEXT{$1.name = 'A' AND $1.price > 5.0 AND $2.name = $1.name AND $2.price < 3.0} Stock",
    f"SELECT name_1, price_1, volume_1, kind_1, name, price, volume, kind FROM {ONE}"
    " NEXT{$2.name = $1.name AND $2.price < 3.0} Stock",
]


@pytest.mark.parametrize("text", NEXT)
def test_the_next_event_of_a_name_has_one_form_however_it_is_written(text: str) -> None:
    found, first = normalised(cel(text)), normalised(cel(NEXT[0]))
    assert (found.states, found.arcs[0]) == (first.states, first.arcs[0])
    assert found.arcs[1].guard == first.arcs[1].guard
    rows = [("A", 6.0, 1, None), ("B", 1.0, 1, None), ("A", 2.0, 1, None), ("A", 7.0, 1, None), ("A", 2.5, 1, None)]
    assert unchanged(cel(text), rows) == [[0, 2], [3, 4]]


THREE = "PATTERN SEQ(Stock a, Stock b, Stock c) WHERE skip_till_any_match(a, b, c) {"
SASE = [
    f"{THREE} a.name = 'A' AND b.name = 'A' AND c.name = 'A' AND c.price > a.price }} WITHIN 9 s",
    f"{THREE} [name] AND a.name = 'A' AND c.price > a.price }} WITHIN 9 s",
    f"{THREE} [name] AND c.name = 'A' AND c.price > a.price }} WITHIN 9 s",
    f"{THREE} a.name = 'A' AND b.name = a.name AND c.name = b.name AND c.price > a.price }} WITHIN 9 s",
    f"{THREE} a.name = b.name AND a.name = c.name AND c.name = 'A' AND c.price > a.price }} WITHIN 9 s",
]


@pytest.mark.parametrize("text", SASE)
def test_a_pattern_of_one_name_has_one_form_however_it_is_written(text: str) -> None:
    found, first = normalised(sase(text)), normalised(sase(SASE[0]))
    assert (found.states, found.arcs, found.sources) == (first.states, first.arcs, first.sources)
    rows = [("A", 6.0, 1, None), ("B", 9.0, 1, None), ("A", 2.0, 1, None), ("B", 1.0, 1, None), ("A", 7.0, 1, None)]
    assert unchanged(sase(text), rows) == [[0, 2, 4]]


# --- facts ----------------------------------------------------------------------------------------------------------


def test_a_fact_holds_on_every_way_into_a_state() -> None:
    """The last event of FOLD may have another name than its first one."""
    text = "SELECT * FROM FILTER{name = 'A'}(FILTER{name = 'A'}(Stock) FOLD{$2.price > $.price, TRUE} Stock)"
    rows = [("A", 1.0, 1, None), ("B", 2.0, 1, None), ("A", 3.0, 1, None)]
    assert unchanged(cel(text), rows) == [[0, 1, 2]]


def test_a_guard_says_nothing_of_what_its_state_sees() -> None:
    """The next event of any name ends the run, if the condition is that of an outer FILTER."""
    inner = "FILTER{name = 'A'}(Stock) NEXT{$2.name = 'A'} Stock"
    rows = [("A", 1.0, 1, None), ("B", 2.0, 1, None), ("A", 1.5, 1, None)]
    assert unchanged(cel(f"SELECT * FROM FILTER{{name = 'A'}}({inner})"), rows) == [[0, 2]]
    assert unchanged(cel("SELECT * FROM FILTER{name = 'A'}(FILTER{name = 'A'}(Stock) NEXT{} Stock)"), rows) == []


def test_two_copies_of_a_null_are_not_equal() -> None:
    text = (
        "PATTERN SEQ(Stock+ a[], Stock b) WHERE skip_till_next_match(a[], b)"
        " { a[i].kind = a[i-1].kind AND b.kind = a[1].kind AND b.price > 5.0 AND a[a.LEN].kind = a[1].kind } WITHIN 9 s"
    )
    rows = [("A", 1.0, 1, None), ("A", 6.0, 1, "x"), ("A", 7.0, 1, "x"), ("A", 2.0, 1, "x")]
    unchanged(sase(text), rows)
    text = text.replace("b.kind = a[1].kind AND ", "")
    assert [0, 1] not in unchanged(sase(text), rows)


# --- rules ----------------------------------------------------------------------------------------------------------


def test_a_row_of_texts_stays_one() -> None:
    def line(*names: str) -> str:
        steps = "".join(f" NEXT{{$2.name = '{name}'}} Stock)" for name in names[1:])
        return f"SELECT * FROM {'(' * (len(names) - 1)}FILTER{{name = '{names[0]}'}}(Stock){steps}"

    for names in ("AB", "ABA", "AAB", "ABB"):
        found = normalised(cel(line(*names)))
        assert conditions(found) == [f"name = '{name}'" for name in names]
    assert conditions(normalised(cel(line(*"AAA")))) == ["name = 'A'", "name = $.name", "name = $.name"]


def test_a_loop_that_changes_a_register_keeps_its_condition() -> None:
    """The number of events is that of the first one's volume at first."""
    text = (
        "SELECT * FROM FILTER{n > 2}((SELECT *, volume AS n FROM Stock)"
        " FOLD{$2.name = $1.name, $2.price > $.price, $.n + 1 AS n} Stock)"
    )
    rows = [("A", 1.0, 1, None), ("A", 2.0, 1, None), ("A", 3.0, 1, None)]
    assert unchanged(cel(text), rows) == [[0, 1, 2]]


def test_a_condition_that_cannot_move_keeps_no_equal_one_back() -> None:
    """The loop changes `$.name`, which is `name_1` all the same."""
    text = "SELECT * FROM FILTER{%s n > 2}((SELECT *, 1 AS n FROM %s) FOLD{$2.name = $.name, , $.n + 1 AS n} Stock)"
    inside = conditions(normalised(cel(text % ("", "FILTER{name = 'A'}(Stock)"))))
    for outside in ("name_1 = 'A' AND", "name = 'A' AND", "name = 'A' AND name_1 = 'A' AND"):
        assert conditions(normalised(cel(text % (outside, "Stock")))) == inside


def test_no_condition_moves_into_an_arc_whose_state_waits_if_it_is_not_taken() -> None:
    """b is the next event of any name; with another name it would be another event."""
    text = "PATTERN SEQ(Stock a, Stock b, Stock c) WHERE skip_till_next_match(a, b, c)"
    text += " { a.volume = 1 AND b.volume = 2 AND c.volume = 3 AND c.name = b.name AND c.name = 'S' } WITHIN 9 s"
    rows = [("A", 1.0, 1, None), ("B", 2.0, 2, None), ("S", 3.0, 2, None), ("S", 3.0, 3, None)]
    assert unchanged(sase(text), rows) == []
    any_match = text.replace("next", "any")
    assert unchanged(sase(any_match), rows) == [[0, 2, 3]]
    assert dict(rewritten(sase(any_match)).counts)["placement"] == 1


def test_a_function_stays_where_only_candidates_are_asked() -> None:
    text = "SELECT * FROM FILTER{contains(kind_1, 'x')}(%s NEXT{$2.name = $1.name} Stock)"
    assert not dict(rewritten(cel(text % "Stock")).counts).get("placement")
    assert dict(rewritten(cel(text % "FILTER{name = 'A'}(Stock)")).counts)["placement"] == 1


def test_a_constant_of_another_type_is_no_constant_of_the_attribute() -> None:
    text = "PATTERN SEQ(Stock a, Quote b) WHERE skip_till_next_match(a, b) { a.volume = 5 AND b.%s = a.volume }"
    assert not rewritten(sase(text % "price")).counts
    assert rewritten(sase(text % "name")).counts == (("constants", 1), ("unread", 2))


def test_what_is_forbidden_reads_the_whole_match() -> None:
    text = "PATTERN SEQ(Stock a, ~(Stock n), Stock c) WHERE skip_till_next_match(a, c)"
    text += " { a.volume = 1 AND c.volume = 3 AND c.name = 'S' AND n.volume = 2 AND n.name = c.name } WITHIN 9 s"
    rows = [("A", 1.0, 1, None), ("B", 2.0, 2, None), ("S", 3.0, 3, None)]
    assert unchanged(sase(text), rows) == [[0, 2]]
    assert unchanged(sase(text), [rows[0], ("S", 2.0, 2, None), rows[2]]) == []
    assert "name = 'S' AND n.volume = 2" in conditions(normalised(sase(text)))


def test_negation_of_ints_may_leave_64_bits() -> None:
    assert not rewritten(cel("SELECT * FROM FILTER{-volume >= -90}(Stock)")).counts
    assert not rewritten(cel("SELECT * FROM FILTER{price >= 5.0 AND price <= 5.0}(Stock)")).counts
    assert not rewritten(cel("SELECT * FROM FILTER{price - 5.0 > 1.0}(Stock)")).counts


def test_a_constant_moves_to_the_other_side_where_no_row_is_told_apart() -> None:
    """Of ints and floats that a sum makes null, or that rounding would change."""
    most = 2**63 - 1
    volumes = [-most - 1, -most, -(2**53) - 1, -6, -5, -1, 0, 1, 4, 5, 6, 2**53 + 1, most - 5, most]
    rows = [("A", float(at) * 0.5, volume, None) for at, volume in enumerate(volumes)]
    terms = (
        "volume - 5",
        "-5 + volume",
        "volume + 5",
        "5 - volume",
        "-volume",
        "volume",
        "price - 3",
        "3.0 - price",
        "price + 2.5",
    )
    numbers = ("0", "1", "5", "5.0", "5.5", "-5.5", "9007199254740993.0", str(most), "9e18", "1e300")
    operators = ("<", "<=", "=", "!=", ">=", ">")
    asked = [f"{term} {operator} {number}" for term in terms for operator in operators for number in numbers]
    queries = {f"q{at}": f"SELECT * FROM FILTER{{{each}}}(Stock)" for at, each in enumerate(asked)}
    assert told(Options(), queries, rows) == told(Options(rules_off=ALL), queries, rows)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("0 < price - 100", "price > 100"),
        ("100.0 - price < 0.0", "price > 100.0"),
        ("volume - 100 > 3", "volume > 103"),
        ("volume + 5 < 10", "volume < 5"),
        ("5 - volume < 3", "volume > 2"),
        ("volume = 5.0", "volume = 5"),
        ("volume < 5.5", "volume < 6"),
        ("volume <= 5.5", "volume <= 5"),
        ("volume >= 5.0 AND 5 >= volume", "volume = 5"),
        ("volume = 5.5", "volume = 5.5"),
        ("price >= 5 AND price != 5", "price > 5"),
        ("price + 0 > 5", "price > 5"),
        ("name BETWEEN 'A' AND 'A'", "name = 'A'"),
        ("price > 5 AND price IS NOT NULL", "price > 5"),
        ("kind = 'k' AND kind IS NOT NULL", "kind = 'k'"),
        ("kind IS NOT NULL", "kind IS NOT NULL"),
        ("NOT price BETWEEN 0 AND 5 AND price >= 0", "price > 5"),
        ("volume - 100 < 3", "(volume - 100) < 3"),
        ("price - 100 > 1", "(price - 100) > 1"),
    ],
)
def test_arithmetic_with_constants_is_one_comparison(written: str, plain: str) -> None:
    assert conditions(normalised(cel(f"SELECT * FROM FILTER{{{written}}}(Stock)"))) == [plain]


def test_alternatives_that_were_multiplied_out_are_absorbed() -> None:
    text = "PATTERN SEQ(Stock a) WHERE skip_till_next_match(a) {"
    text += " (a.price < 24 OR (a.price < 23 AND a.price < 24)) AND (a.volume > 1 OR a.volume > 2) }"
    assert conditions(normalised(sase(text))) == ["a.price < 24 AND a.volume > 1"]
    kept = "(price < 1 OR price < 2) AND (volume > 1 OR kind = 'k') AND (volume > 2 OR name = 'n')"
    (form,) = conditions(normalised(cel(f"SELECT * FROM FILTER{{{kept}}}(Stock)")))
    assert form.count("price < 2") == form.count("price") == 4


def test_a_partition_is_what_parts_the_next_events() -> None:
    text = "PATTERN SEQ(Stock a, Stock b) WHERE partition_contiguity(a, b)"
    text += " { [name] AND a.name = 'A' AND b.price > 2.0 }"
    rows = [("A", 1.0, 1, None), ("B", 2.0, 2, None), ("A", 3.0, 3, None)]
    assert unchanged(sase(text), rows) == [[0, 2]]
    composite = "FROM Stock BY name a: name = 'A' b: price > 2.0 MATCH a, b"
    assert unchanged(ptopss(composite), rows) == [[0, 2]]
    either = "FROM Stock BY name a: name = 'A' b: price > 1.5 MATCH a OR b"
    assert unchanged(ptopss(either), rows) == [[0], [1], [2], [2]]
    assert dict(rewritten(ptopss(composite.replace("a, b", "a; b"))).counts)["partitions"] == 1


def test_what_is_forbidden_of_another_partition_forbids_nothing() -> None:
    text = "PATTERN SEQ(~(Stock m), Stock a, Stock b) WHERE skip_till_next_match(a, b)"
    text += " { [name] AND m.name = 'B' AND b.name = 'A' } WITHIN 1 hour"
    rows = [("B", 1.0, 1, None), ("A", 2.0, 2, None), ("A", 3.0, 3, None)]
    assert dict(rewritten(sase(text)).counts)["partitions"] == 1
    assert unchanged(sase(text), rows) == [[1, 2]]
    between = "PATTERN SEQ(Stock a, ~(Stock m), Stock b) WHERE skip_till_next_match(a, b)"
    between += " { [name] AND a.name = 'A' AND m.name = 'B' } WITHIN 1 hour"
    assert unchanged(sase(between), [rows[1], rows[0], rows[2]]) == [[0, 2]]


def test_a_tree_of_machines_has_the_conditions_of_its_automaton() -> None:
    found = normalised(ptopss("FROM Stock BY name a: name = 'A' b: price > 2.0 OR price > 3.0 MATCH a AND b"))
    assert found.machines is not None
    guards = [primitive.guard for primitive in found.machines.primitives]
    assert {arc.guard for arc in found.arcs} == set(guards)
    assert [describe_form(guard) for guard in guards] == ["name = 'A'", "name = 'A' AND price > 2.0"]
    assert found.machines.sources == found.sources


def test_a_window_is_measured_from_the_first_event_on_every_way() -> None:
    def composite(match: str) -> Automaton:
        operands = [f"{name}: name = '{name.upper()}'" for name in "abc" if name in match.replace("AND", "")]
        return ptopss(f"FROM Stock {' '.join(operands)} MATCH {match}")

    for match in ("(a; b; c) @(t(c) - t(a) <= 5 s)", "(a AND b) @(t(b) - t(a) <= 5 s)", "(a, b) @(t(b) - t(a) <= 5 s)"):
        assert normalised(composite(match)).within == 5 * SECOND, match
    for match in ("((a AND b); c) @(t(c) - t(a) <= 2 s)", "(a; (b OR c)) @(t(b) - t(a) <= 2 s)"):
        assert normalised(composite(match)).within is None
    rows = [(name, 1.0, 1, None) for name in "BXXACBXXC"]
    assert unchanged(composite("((a AND b); c) @(t(c) - t(a) <= 2 s)"), rows) == [[0, 3, 4]]
    for bounds, within in (("<= 2 s) WITHIN 9 s", 2), ("<= 9 s) WITHIN 2 s", 2), ("< 2000001 us)", 2)):
        assert normalised(composite(f"(a; b; c) @(t(c) - t(a) {bounds}")).within == within * SECOND
    pairs = "(a AND b AND c) @(t(b) - t(a) <= 2 s) @(t(a) - t(c) <= 2 s)"
    assert normalised(composite(pairs)).within is None
    assert unchanged(composite(pairs), rows) == [[3, 4, 5]]
    every = composite(pairs + " @(t(b) - t(c) <= 2 s)")
    assert normalised(every).arcs == composite("a AND b AND c WITHIN 2 s").arcs
    assert normalised(composite(pairs + " @(t(b) - t(c) <= 3 s)")).within is None


SPANS = [
    ("b.time - a.time < 2 s", 2 * SECOND - 1),
    ("a.time > b.time - 2 s", 2 * SECOND - 1),
    ("a.time + 2 s >= b.time", 2 * SECOND),
    ("-2000000 <= a.time - b.time", 2 * SECOND),
    ("NOT (b.time - 2 s > a.time)", 2 * SECOND),
    ("b.time - a.time - 2 s <= 0", 2 * SECOND),
    ("b.time - a.time BETWEEN 0 AND 2 s", 2 * SECOND),
    ("b.time - a.time <= 2 s AND b.time >= a.time", 2 * SECOND),
    ("b.time - a.time < 1", None),
    ("b.time - a.time >= 2 s", None),
    ("b.time > a.time", None),
    ("a.time + 9223372036854775807 > b.time", None),
    ("b.time - a.volume < 2 s", None),
]


@pytest.mark.parametrize(("asked", "within"), SPANS)
def test_a_difference_of_times_is_a_window(asked: str, within: int | None) -> None:
    rows = [("A", 1.0, 1, None)] * 5
    pattern = sase(f"PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{ {asked} }}")
    unchanged(pattern, rows)
    found = normalised(pattern)
    assert found.within == within
    assert (found.streams() == ["Stock"]) == (within is not None)


def test_a_later_event_is_not_earlier() -> None:
    pattern = sase("PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { a.time - b.time < 2 s }")
    assert conditions(normalised(pattern)) == []
    assert normalised(pattern).streams() == ["Stock"]


def test_an_attribute_is_no_time() -> None:
    asked = "b.time - a.time <= 2 s AND b.time - a.volume <= 9 s"
    found = normalised(sase(f"PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{ {asked} }}"))
    assert conditions(found) == ["(b.time - $.a.volume) <= 9000000", "WITHIN 2 s"]


def test_a_time_of_a_middle_event_is_no_window() -> None:
    def within(components: str, strategy: str, asked: str) -> int | None:
        names = ", ".join(part.split()[-1] for part in components.split(", ") if "~" not in part)
        pattern = sase(f"PATTERN SEQ({components}) WHERE {strategy}({names}) {{ {asked} }} WITHIN 9 s")
        rows = [(name, float(at), at, None) for at, name in enumerate("ABCABBCA")]
        unchanged(pattern, rows)
        return normalised(pattern).within

    three, any_ = "Stock a, Stock b, Stock c", "skip_till_any_match"
    assert within(three, any_, "b.time - a.time <= 2 s AND c.name = 'C'") == 9 * SECOND
    assert within(three, any_, "c.time - b.time <= 2 s AND c.name = 'C'") == 9 * SECOND
    assert within(three, any_, "c.time - a.time <= 2 s AND c.name = 'C'") == 2 * SECOND
    assert within("~(Stock n), Stock a, Stock b", any_, "b.time - a.time <= 2 s AND n.name = 'C'") == 9 * SECOND
    assert within("Stock a, Stock b, ~(Stock n)", any_, "b.time - a.time <= 2 s AND n.name = 'C'") == 9 * SECOND
    assert within("Stock a, Stock? b", any_, "b.time - a.time <= 2 s AND b.name = 'C'") == 9 * SECOND
    assert within("Stock a, ~(Stock n), Stock b", any_, "b.time - a.time <= 2 s AND n.name = 'C'") == 2 * SECOND
    assert within("Stock+ a[], Stock b", any_, "b.time - a[1].time <= 2 s AND b.name = 'C'") == 2 * SECOND
    assert within("Stock+ a[], Stock b", any_, "b.time - a[a.LEN].time <= 2 s AND b.name = 'C'") == 9 * SECOND


def test_a_difference_from_the_start_is_dur() -> None:
    def outer(asked: str) -> list[str]:
        return conditions(normalised(cel(f"SELECT * FROM FILTER{{{asked}}}(Stock NEXT{{$2.name = $1.name}} Stock)")))

    assert outer("time - start < 5") == outer("time < start + 5") == outer("5 > time - start") == outer("DUR <= 5")
    assert outer("time - start <= 5") == outer("time - 5 <= start") == outer("DUR <= 6")
    assert outer("time - start >= 5") == outer("DUR > 5")
    assert outer("time - start > 5") == outer("start - time < -5") == outer("DUR > 6")
    assert outer("time - start = 5") == outer("DUR = 6")
    assert outer("time - volume < 5") == ["name = $.name", "(time - volume) < 5"]
    far = "start + 9223372036854775807 > time"
    assert outer(far) == ["name = $.name", "time < (9223372036854775807 + $.start)"]
    assert "DUR" not in str(conditions(normalised(cel("SELECT * FROM Stock NEXT{$2.time - $1.time < 5} Stock"))))
    whole = "SELECT * FROM FILTER{time - start < 5}((Stock NEXT{$2.name = $1.name} Stock) NEXT{} Stock)"
    assert conditions(normalised(cel(whole)))[-1] == "DUR <= 5"


def test_only_a_bound_from_above_on_the_time_of_the_event_is_a_deadline() -> None:
    def theta(asked: str) -> str:
        return describe_form(normalised(cel(f"SELECT * FROM Stock NEXT{{{asked}}} Stock")).states[1].theta)

    for asked in ("DUR < 5", "$2.time - $1.time < 5", "$2.time < $1.time + 5", "$2.time - 5 <= $1.start"):
        assert theta(f"$2.name = $1.name AND {asked}") == "name = $.name", asked
    for asked in (
        "DUR > 5",
        "DUR = 5",
        "$2.start - $1.time < 5",
        "$1.time - $2.time < 5",
        "(DUR < 5 OR $2.volume = 1)",
    ):
        assert theta(f"$2.name = $1.name AND {asked}") != "name = $.name", asked
    fold = "SELECT * FROM (SELECT name, price FROM Stock) FOLD{%s, $2.price > $.price,} (SELECT name, price FROM Stock)"
    for asked, kind in (
        ("DUR < 5", Kind.FORWARD),
        ("$2.time - $1.time < 5", Kind.FORWARD),
        ("$2.time - $.time < 5", Kind.LOOP),
    ):
        found = normalised(cel(fold % asked))
        assert found.states[1].theta == ALWAYS
        assert [arc.kind for arc in found.arcs if "5" in describe_form(arc.guard)] == [kind], asked


def test_a_stream_whose_times_are_read_is_timed() -> None:
    def streams(text: str) -> list[str]:
        return normalised(cel(text)).streams()

    alias = "(SELECT name AS n, time AS t, start AS b FROM Stock) NEXT{$2.name = $1.n} "
    assert streams(f"SELECT n FROM {alias} Stock") == ["Stock"]
    assert streams(f"SELECT t FROM {alias} Stock") == ["Stock with time"]
    assert streams(f"SELECT n FROM FILTER{{b > 5}}({alias} Stock)") == ["Stock with time"]
    assert streams(f"SELECT n FROM FILTER{{start > 5}}({alias} Stock)") == ["Stock with time"]
    assert streams("SELECT n FROM (SELECT time AS t, sym AS n FROM Quote) NEXT{$2.volume = $1.t} Stock") == [
        "Quote with time",
        "Stock",
    ]
    assert streams("SELECT n FROM (SELECT time AS t, sym AS n FROM Quote) NEXT{$2.kind = $1.n} Stock") == [
        "Quote",
        "Stock",
    ]


def test_a_time_is_read_where_slots_before_it_are_gone() -> None:
    asked = "skip_till_next_match(a, b, c) { b.time - c.time > -9 AND c.name > %s.time } WITHIN 6"
    of_first, of_second = [
        normalised(sase(f"PATTERN SEQ(Stock a, Quote b, Quote c) WHERE {asked % name}")) for name in "ab"
    ]
    assert of_first.streams() == ["Stock with time", "Quote"]
    assert of_second.streams() == ["Stock", "Quote with time"]


def test_no_bound_is_a_window_beside_what_is_forbidden() -> None:
    plain = ptopss("FROM Stock a: name = 'A' b: name = 'B' MATCH (a; b) @(t(b) - t(a) <= 5 s)")
    kill = Arc(0, 0, plain.arcs[0].guard, kind=Kind.KILL, operand=0)
    assert normalised(plain).within == 5 * SECOND
    assert normalised(replace(plain, arcs=(*plain.arcs, kill), forbidden=("n",))).within is None
    waits = Arc(1, plain.final, ALWAYS, kind=Kind.TIMEOUT)
    assert normalised(replace(plain, arcs=(*plain.arcs, waits))).within is None


def test_a_slot_that_nothing_reads_is_gone() -> None:
    text = "SELECT %s FROM (Stock NEXT{$2.name = $1.name} Stock) NEXT{$2.name = $1.name} Stock"
    few, all_ = normalised(cel(text % "name")), normalised(cel(text % "*"))
    assert [len(arc.update) for arc in few.arcs] == [0, 0, 0]
    assert [len(arc.update) for arc in all_.arcs] == [0, 1, 0]
    assert few.states == all_.states


# --- the table ------------------------------------------------------------------------------------------------------


def test_a_forecast_goes_without_the_rules_that_change_runs() -> None:
    matches = ["window", "partitions", "lapses", "placement", "untimed"]
    assert [rule.name for rule in RULES if not rule.runs] == matches
    assert rewritten(cel(NEXT[5]), forecast=True).counts == ()
    assert dict(rewritten(cel(NEXT[1]), forecast=True).counts) == {"keys": 1}


def test_a_rule_that_is_off_does_nothing() -> None:
    assert rewritten(cel(NEXT[5]), off=ALL) == Rewriting(cel(NEXT[5]))
    assert str(rewritten(cel(NEXT[5]))) == "placement (2), implied (2)"
    assert {type(rule) for rule in RULES} == {Rule}


def test_the_conditions_as_they_were_written_are_named() -> None:
    written = cel(NEXT[5])
    assert differences(written, normalised(written)) == "name = 'A' AND $.price > 5.0"


# --- in an engine ---------------------------------------------------------------------------------------------------


def told(options: Options, queries: dict[str, str], rows: Events) -> list[tuple[str, tuple[int, ...]]]:
    engine = Engine(options)
    engine.add_stream("Stock", COLUMNS)
    for name, text in queries.items():
        engine.subscribe(name, query=text, lineage=True)
    results = engine.publish("Stock", range(len(rows)), rows)
    return sorted((match.subscription, tuple(match.lineage or ())) for match in results)


@pytest.mark.parametrize("off", [(), ALL])
def test_a_form_serves_the_texts_with_the_same_answers(off: tuple[str, ...]) -> None:
    """Which alternative includes which is a question of the order of literals; what is a key, of their equality."""
    either = "SELECT * FROM FILTER{price < %s OR (price < %s AND volume > 9)}(Stock)"
    follows = "SELECT * FROM FILTER{name = '%s'}(Stock) NEXT{$2.name = '%s'} Stock"
    queries = {"same": either % ("5.0", "5.0"), "less": either % ("5.0", "4.0"), "more": either % ("3.0", "7.0")}
    queries |= {"AA": follows % ("A", "A"), "AB": follows % ("A", "B"), "BB": follows % ("B", "B")}
    rows = [("A", 4.5, 1, None), ("B", 6.0, 10, None), ("A", 9.0, 1, None), ("B", 9.0, 1, None)]
    assert told(Options(rules_off=off), queries, rows) == [
        ("AA", (1, 3)),
        ("AB", (1, 2)),
        ("AB", (3, 4)),
        ("BB", (2, 4)),
        ("less", (1,)),
        ("more", (2,)),
        ("same", (1,)),
    ]


def test_the_literals_of_composite_subscriptions_are_their_own() -> None:
    """Equal parts of subscriptions are one object, but not with literals: whether these are equal decides."""
    engine = Engine()
    engine.add_stream("Stock", COLUMNS)
    text = "FROM Stock BY name a: name = '%s' b: name = '%s' AND volume > 0 MATCH a; b WITHIN 9 s"
    for number, names in enumerate((("B", "A"), ("A", "A"), ("C", "A"))):
        engine.subscribe(f"q{number}", "ptopss", text % names)
    forms = [subscriber.form for subscriber in engine.catalog.subscriptions.values()]
    assert [str(form.rewritings[0]) for form in forms] == ["", "partitions", ""]


def test_a_literal_that_a_rule_drops_makes_no_form_of_its_own() -> None:
    engine = Engine()
    engine.add_stream("Stock", COLUMNS)
    text = "SELECT * FROM FILTER{name = '%s' AND price > %s}(Stock) NEXT{$2.name = '%s'} Stock"
    for at in range(4):
        engine.subscribe(f"q{at}", query=text % (f"S{at}", at, f"S{at}"))
    assert len({id(subscriber.form) for subscriber in engine.catalog.subscriptions.values()}) == 1
    assert "rewritten: keys; as written: name = 'S0'" in engine.sharing("q0")
    assert "q0: rewritten: keys; as written: name = 'S0'" in engine.explain()
    (nodes, edges) = engine.diagram().nodes, engine.diagram().edges
    assert any("name = 'S1'" in edge.label for edge in edges) or any("name = 'S1'" in str(node) for node in nodes)
