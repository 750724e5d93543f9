"""What SASE+ patterns mean, by hand: strategies, forks, negations and their ends, aggregates, modes of output.

Streams are written as words: `A1 C2 B3` are events of stream S whose `ty` is the letter, at these times, and whose
`n` is their place, from 1; a result is written as the places of its events, one list a component.
"""

from __future__ import annotations

import pytest

from broker.algebra.sase.lowering import lower
from broker.algebra.sase.pattern import Pattern
from broker.algebra.sase.semantics import Event, known_after, matches, returned
from broker.events.schema import Row, Schema
from broker.language.sase import parse

SHARED = "A1 C2 B3 A4 B5 C6 B7 C8"
SCHEMAS = {
    "S": Schema.declare({"ty": "string", "n": "int"}),
    "Q": Schema.declare({"name": "string?", "price": "float?", "volume": "int"}),
    "Shelf": Schema.declare({"tag_id": "int"}),
    "Register": Schema.declare({"tag_id": "int"}),
    "Exit": Schema.declare({"tag_id": "int"}),
    "Alert": Schema.declare({"type": "string", "site": "string"}),
    "Shipment": Schema.declare({"from": "string", "to": "string"}),
}
QUERY_3 = (
    "PATTERN SEQ(Q+ a[], Q b) WHERE {}(a[], b) {{ [name] AND a[1].volume > 1000"
    " AND a[i].price > avg(a[..i-1].price) AND b.volume < 80% * a[a.LEN].volume }} WITHIN 60"
)
TICKS = [(100, 1010), (120, 990), (120, 1005), (121, 999), (120, 999), (125, 750), (120, 950), (120, 700)]
QUOTES: list[Event] = [("Q", n, ("X", float(price), volume)) for n, (price, volume) in enumerate(TICKS, 1)]


def lowered(text: str) -> Pattern:
    return lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]


def word(text: str) -> list[Event]:
    return [("S", int(letter[1:]), (letter[0], place)) for place, letter in enumerate(text.split(), 1)]


def found(text: str, events: list[Event]) -> list[list[list[int]]]:
    pattern = lowered(text)
    return [[[index + 1 for index in part] for part in assignment] for assignment in matches(pattern, events)]


def letters(strategy: str, components: str, *, kinds: str, rest: str = "WITHIN 100") -> str:
    """A pattern over S: `components` such as "a b[] ~n", `kinds` the letter of each."""
    parts, names, conditions = [], [], []
    for name, kind in zip(components.split(), kinds, strict=True):
        bare = name.strip("~[]")
        if name.endswith("[]"):
            parts.append(f"S+ {name}")
            conditions += [f"{bare}[1].ty = '{kind}'", f"{bare}[i].ty = '{kind}'"]
        else:
            parts.append(f"~(S {bare})" if name.startswith("~") else f"S {bare}")
            conditions.append(f"{bare}.ty = '{kind}'")
        names.append(name.strip("~"))
    where = f"{strategy}({', '.join(names)})"
    return f"PATTERN SEQ({', '.join(parts)}) WHERE {where} {{ {' AND '.join(conditions)} }} {rest}"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("skip_till_next_match", [[[1, 2, 3, 4, 5], [6]], [[3, 4], [6]], [[1, 2, 3, 4, 5, 6, 7], [8]]]),
        ("strict_contiguity", [[[1, 2, 3, 4, 5], [6]], [[1, 2, 3, 4, 5, 6, 7], [8]]]),
        ("partition_contiguity", [[[1, 2, 3, 4, 5], [6]], [[1, 2, 3, 4, 5, 6, 7], [8]]]),
    ],
)
def test_query_3_of_the_paper(strategy: str, expected: list[list[list[int]]]) -> None:
    assert found(QUERY_3.format(strategy), QUOTES) == expected


def test_query_3_skip_till_any_match() -> None:
    assert len(found(QUERY_3.format("skip_till_any_match"), QUOTES)) == 68


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [[[4], [5]]]),
        ("skip_till_next_match", [[[1], [3]], [[4], [5]]]),
        ("skip_till_any_match", [[[1], [3]], [[1], [5]], [[4], [5]], [[1], [7]], [[4], [7]]]),
    ],
)
def test_two_events(strategy: str, expected: list[list[list[int]]]) -> None:
    assert found(letters(strategy, "a b", kinds="AB"), word(SHARED)) == expected


def test_within_is_inclusive() -> None:
    within = letters("skip_till_any_match", "a b", kinds="AB", rest="WITHIN 3")
    assert found(within, word(SHARED)) == [[[1], [3]], [[4], [5]], [[4], [7]]]
    assert found(letters("skip_till_any_match", "a b", kinds="AB", rest="WITHIN 0"), word("A1 B1 B2")) == [[[1], [2]]]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [[[4], [5], [6]]]),
        ("skip_till_next_match", [[[1], [3], [6]], [[4], [5], [6]]]),
    ],
)
def test_three_events(strategy: str, expected: list[list[list[int]]]) -> None:
    assert found(letters(strategy, "a b c", kinds="ABC"), word(SHARED)) == expected


def test_three_events_skip_till_any_match() -> None:
    assert len(found(letters("skip_till_any_match", "a b c", kinds="ABC"), word(SHARED))) == 8


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", [[[4], [5], [6]]]),
        (
            "skip_till_next_match",
            [[[1], [3, 5], [6]], [[4], [5], [6]], [[1], [3, 5, 7], [8]], [[4], [5, 7], [8]]],
        ),
    ],
)
def test_kleene_in_the_middle(strategy: str, expected: list[list[list[int]]]) -> None:
    assert found(letters(strategy, "a b[] c", kinds="ABC"), word(SHARED)) == expected


@pytest.mark.parametrize("output", ["all", "compressed"])
def test_kleene_in_the_middle_skip_till_any_match(output: str) -> None:
    text = letters("skip_till_any_match", "a b[] c", kinds="ABC", rest=f"WITHIN 100 OUTPUT {output}")
    assert len(found(text, word(SHARED))) == 14


def test_kleene_at_the_end_reports_each_event_that_it_takes() -> None:
    text = letters("skip_till_next_match", "a b[]", kinds="AB")
    assert found(text, word("A1 B2 C3 B4")) == [[[1], [2]], [[1], [2, 4]]]
    ended = text.replace("{ ", "{ b.LEN >= 2 AND ")
    assert found(ended, word("A1 B2 C3 B4 B5")) == [[[1], [2, 4]], [[1], [2, 4, 5]]]


def test_contaminated_shipments() -> None:
    text = (
        "PATTERN SEQ(Alert a, Shipment+ b[]) WHERE skip_till_any_match(a, b[])"
        " { a.type = 'contaminated' AND b[1].from = a.site AND b[i].from = b[i-1].to } WITHIN 3 hours"
    )
    events: list[Event] = [("Alert", 1, ("contaminated", "X"))]
    events += [("Shipment", 2 + n, row) for n, row in enumerate([("X", "Y"), ("X", "Z"), ("Y", "W")])]
    assert found(text, events) == [[[1], [2]], [[1], [3]], [[1], [2, 4]]]


def test_shoplifting() -> None:
    text = (
        "PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_next_match(a, b, c)"
        " { a.tag_id = b.tag_id AND a.tag_id = c.tag_id } WITHIN 12 hours"
    )
    rows = [("Shelf", 1), ("Shelf", 2), ("Register", 1), ("Exit", 1), ("Exit", 2)]
    assert found(text, [(stream, time, (tag,)) for time, (stream, tag) in enumerate(rows)]) == [[[2], [5]]]


def test_partition_contiguity_is_within_the_partition() -> None:
    text = "PATTERN SEQ(Q a, Q b) WHERE partition_contiguity(a, b) { [name] AND a.volume = 1 AND b.volume = 2 }"
    rows: list[Row] = [("X", 0.0, 1), ("Y", 0.0, 3), (None, 0.0, 3), ("X", 0.0, 2), ("X", 0.0, 1), ("X", 0.0, 3)]
    rows += [("X", 0.0, 2), (None, 0.0, 1), (None, 0.0, 2)]
    events: list[Event] = [("Q", time, row) for time, row in enumerate(rows)]
    assert found(text, events) == [[[1], [4]]]
    assert found(text.replace("partition", "strict"), events) == []


def test_contiguity_is_in_the_merge_of_the_streams_that_are_named() -> None:
    text = "PATTERN SEQ(Shelf a, Exit b) WHERE strict_contiguity(a, b)"
    events: list[Event] = [(stream, 1, (1,)) for stream in ("Shelf", "Register", "Exit", "Shelf", "Shelf", "Exit")]
    assert found(text, events) == [[[1], [3]], [[5], [6]]]
    negated = "PATTERN SEQ(Shelf a, ~(Register n), Exit b) WHERE strict_contiguity(a, b)"
    assert found(f"{negated} {{ n.tag_id = 2 }}", events) == [[[5], [6]]]


MIXED = (
    "PATTERN SEQ(S+ a[], S b) WHERE {}(a[]) AND {}(b) {{ a[1].ty = 'A' AND a[i].ty = 'A' AND b.ty = 'B' }} WITHIN 50"
)


@pytest.mark.parametrize(
    ("first", "second", "text", "expected"),
    [
        # A strict `a` ends with the first other event; then `b` waits by its own strategy.
        ("strict_contiguity", "skip_till_next_match", "A1 A2 C3 A4 B5 B6", [[[1, 2], [5]], [[2], [5]], [[4], [5]]]),
        ("strict_contiguity", "skip_till_any_match", "A1 B2 B3", [[[1], [2]], [[1], [3]]]),
        ("strict_contiguity", "strict_contiguity", "A1 C2 B3", []),
        # As long as `a` can ignore an event, nothing but a `b` ends it.
        ("skip_till_next_match", "strict_contiguity", "A1 C2 B3", [[[1], [3]]]),
        ("skip_till_next_match", "strict_contiguity", "A1 C2 A3 B4", [[[1, 3], [4]], [[3], [4]]]),
        ("skip_till_next_match", "skip_till_any_match", "A1 B2 A3 B4", [[[1], [2]], [[1, 3], [4]], [[3], [4]]]),
        ("skip_till_any_match", "strict_contiguity", "A1 A2 B3", [[[1, 2], [3]], [[1], [3]], [[2], [3]]]),
    ],
)
def test_an_event_is_judged_by_the_variable_that_is_awaited(
    first: str, second: str, text: str, expected: list[list[list[int]]]
) -> None:
    assert found(MIXED.format(first, second), word(text)) == expected


def test_an_event_may_be_taken_and_end_the_same_variable() -> None:
    text = (
        "PATTERN SEQ(S+ a[], S b) WHERE strict_contiguity(a[], b) { a[1].ty = 'A' AND a[i].ty != 'C' AND b.ty = 'B' }"
    )
    assert found(text, word("A1 B2 B3 C4 B5")) == [[[1], [2]], [[1, 2], [3]]]


def test_a_middle_negation_is_strictly_between_its_neighbours_by_place() -> None:
    text = letters("skip_till_any_match", "a ~n c", kinds="ABC")
    assert found(text, word("A1 B1 C1 A2 C2 B3 C4")) == [[[4], [5]]]
    assert found(text, word("B1 A1 C1 B1")) == [[[2], [3]]]
    beside = letters("skip_till_next_match", "a[] ~n c", kinds="ABC")
    assert found(beside, word("A1 B2 A3 C4")) == [[[1, 3], [4]], [[3], [4]]]
    assert found(beside, word("A1 A2 B3 C4")) == []
    before = letters("skip_till_next_match", "a ~n c[]", kinds="ABC")
    assert found(before, word("A1 C2 B3 C4")) == [[[1], [2]], [[1], [2, 4]]]


def test_a_leading_negation_is_inside_the_window_before_the_first_event_by_time() -> None:
    text = letters("skip_till_next_match", "~n a b", kinds="NAB", rest="WITHIN 5")
    assert found(text, word("N1 A2 B6")) == [[[2], [3]]]  # 6 - 5 is not above 1
    assert found(text, word("N1 A2 B5")) == []
    assert found(text, word("N2 A2 B3")) == [[[2], [3]]]  # not before the time of a
    assert found(text, word("A1 N2 B3")) == [[[1], [3]]]
    alone = letters("skip_till_next_match", "~n a", kinds="NA", rest="WITHIN 2")
    assert found(alone, word("N1 A2 A3 A4")) == [[[3]], [[4]]]


def test_a_trailing_negation_is_up_to_the_end_of_the_window_by_time() -> None:
    text = letters("skip_till_next_match", "a ~n", kinds="AB", rest="WITHIN 2")
    assert found(text, word("A1 C2 B3 A4 C5 C6 C7")) == [[[4]]]
    assert found(text, word("A1 B1 B4")) == [[[1]]]
    later = letters("skip_till_any_match", "a b ~n", kinds="ABN", rest="WITHIN 5")
    assert found(later, word("A1 B2 N3 B4 N7")) == [[[1], [4]]]  # 1 + 5 is the last time that counts
    pattern = lowered(later)
    events = word("A1 B2")
    (only,) = matches(pattern, events)
    assert known_after(pattern, events, only) == 6


def test_results_with_a_trailing_negation_are_in_the_order_of_their_deadlines() -> None:
    text = letters("skip_till_any_match", "a b ~n", kinds="ABN", rest="WITHIN 9")
    assert found(text, word("A1 A2 B3 B4")) == [[[1], [3]], [[1], [4]], [[2], [3]], [[2], [4]]]


def test_a_negation_reads_the_whole_match() -> None:
    text = (
        "PATTERN SEQ(S a, ~(S n), S+ b[]) WHERE skip_till_next_match(a, b[])"
        " { a.ty = 'A' AND b[1].ty = 'B' AND b[i].ty = 'B' AND n.ty = 'N' AND n.n > a.n + b.LEN } WITHIN 9"
    )
    assert found(text, word("A1 C2 N3 B4 B5")) == [[[1], [4, 5]]]  # 3 > 1 + 1, but not 3 > 1 + 2


def test_a_negation_is_within_the_partition() -> None:
    text = (
        "PATTERN SEQ(~(Q k), Q a, ~(Q m), Q b, ~(Q n)) WHERE skip_till_next_match(a, b)"
        " { [name] AND a.volume = 1 AND b.volume = 2 AND k.volume = 0 AND m.volume = 0 AND n.volume = 0 } WITHIN 3"
    )
    rows: list[Row] = [("X", 0.0, 1), ("X", 0.0, 2)]
    for other, expected in (("Y", [[[2], [4]]]), (None, [[[2], [4]]]), ("X", [])):
        spoiling: Row = (other, 0.0, 0)
        spoilt = [spoiling, rows[0], spoiling, rows[1], spoiling]
        assert found(text, [("Q", time, row) for time, row in enumerate(spoilt)]) == expected


def test_several_negations() -> None:
    text = letters("skip_till_any_match", "~k a ~m ~n b ~o", kinds="KAMNBO", rest="WITHIN 3")
    assert found(text, word("A10 B11")) == [[[1], [2]]]
    for spoilt in ("K9 A10 B11", "A10 M10 B11", "A10 N11 B11", "A10 B11 O13"):
        assert found(text, word(spoilt)) == []
    assert found(text, word("K8 A10 M11 B11 B11 N12 O14")) == []
    assert found(text, word("K8 A10 B11 M11 N12 O14")) == [[[2], [3]]]


def test_nonoverlapping_output() -> None:
    events = word("A1 A2 B3 A4 B5")
    assert found(letters("skip_till_next_match", "a b", kinds="AB", rest=""), events) == [
        *([[1], [3]], [[2], [3]]),
        [[4], [5]],
    ]
    alone = letters("skip_till_next_match", "a b", kinds="AB", rest="OUTPUT nonoverlap")
    assert found(alone, events) == [[[1], [3]], [[4], [5]]]
    many = letters("skip_till_any_match", "a b[] c", kinds="ABC", rest="WITHIN 9 OUTPUT nonoverlap")
    assert found(many, word("A1 B2 B3 C4 A5 B6 C7")) == [[[1], [2, 3], [4]], [[5], [6], [7]]]
    days = (
        "PATTERN SEQ(Q+ a[]) WHERE partition_contiguity(a[])"
        " { [name] AND a[1].price > 30 AND a[i].price > 30 AND a.LEN = 2 } OUTPUT nonoverlap"
    )
    hot: list[Event] = [("Q", time, (name, 31.0, 0)) for time, name in enumerate("XXYXYXX")]
    assert found(days, hot) == [[[1, 2]], [[3, 5]], [[4, 6]]]


def test_aggregates_leave_nulls_out() -> None:
    text = (
        "PATTERN SEQ(Q+ a[]) WHERE strict_contiguity(a[]) { a.LEN = 3 } RETURN sum(a[].price), avg(a[].price),"
        " min(a[].price), max(a[].price), count(a[].price), first(a[].price), last(a[].price), a.LEN, sum(a[].volume)"
    )
    pattern = lowered(text)

    def values(*prices: float | None) -> Row:
        events: list[Event] = [("Q", time, ("X", price, 2)) for time, price in enumerate(prices)]
        (only,) = matches(pattern, events)
        return returned(pattern, events, only)

    assert values(1.5, None, 4.5) == (6.0, 3.0, 1.5, 4.5, 2, 1.5, 4.5, 3, 6)
    assert values(None, None, None) == (None, None, None, None, 0, None, None, 3, 6)
    assert values(None, 2.0, None) == (2.0, 2.0, 2.0, 2.0, 1, None, None, 3, 6)
    assert values(1e308, 1e308, 1e308)[:2] == (None, None)  # beyond the finite floats


def test_a_sum_that_leaves_64_bits_is_null_and_its_average_is_not() -> None:
    text = "PATTERN SEQ(Q+ a[]) WHERE strict_contiguity(a[]) { a.LEN = 2 } RETURN sum(a[].volume), avg(a[].volume)"
    pattern = lowered(text)
    events: list[Event] = [("Q", time, ("X", 0.0, 2**62)) for time in range(2)]
    (only,) = matches(pattern, events)
    assert returned(pattern, events, only) == (None, 2.0**62)


def test_a_null_makes_a_condition_and_its_negation_false() -> None:
    quotes: list[Event] = [("Q", time, (None, None, 0)) for time in range(2)]
    for condition in ("a.price > 1", "NOT a.price > 1", "NOT (a.price > 1 OR a.price <= 1)"):
        assert found(f"PATTERN SEQ(Q a) WHERE strict_contiguity(a) {{ {condition} }}", quotes) == []
    joined = "PATTERN SEQ(Q a, Q b) WHERE strict_contiguity(a, b) {{ {} }}"
    assert found(joined.format("a.name = b.name"), quotes) == []
    assert found(joined.format("[name]"), quotes) == []
    assert found(joined.format("a.name = b.name OR b.volume = 0"), quotes) == [[[1], [2]]]


def test_ties_are_taken_in_the_order_of_arrival() -> None:
    assert found(letters("skip_till_any_match", "a b", kinds="AB"), word("B1 A1 B1 A1")) == [[[2], [3]]]


def test_no_events_no_results() -> None:
    assert found(letters("skip_till_any_match", "a b[]", kinds="AB"), []) == []
