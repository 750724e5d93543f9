"""Batches in columns: what is taken, that it is the same as rows, and what is refused with which words."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.engine import CodedTexts, Engine
from broker.events import EventError, LateEvent, Schema, StreamDefinition
from broker.events.column_checks import column_of
from broker.events.row_columns import packed_column
from broker.events.text_codes import FIRST

DECLARED = {"name": "string", "price": "float", "volume": "int", "open": "bool?", "note": "string?", "n": "int?"}
DECLARED |= {"change": "float?"}
QUERY = "SELECT * FROM FILTER{price > 1.01 * price_1}(Stock NEXT{$2.name = $1.name} Stock)"
ROWS: list[tuple[Any, ...]] = [
    ("A", 1.0, 5, True, None, 1, None),
    ("B", 2.0, 6, None, "x", None, 2.5),
    ("A", 1.5, 7, False, "é", 3, None),
    ("B", 3.0, 8, None, None, 2**63 - 1, 1.0),
]
TIMES = [1, 2, 2, 4]
COLUMNS = {name: list(values) for name, values in zip(DECLARED, zip(*ROWS, strict=True), strict=True)}
ARROW = pa.record_batch({name: pa.array(values) for name, values in COLUMNS.items()})
LATER = pa.record_batch({name: pa.array([values[0], *values]) for name, values in COLUMNS.items()}).slice(1)
CODED = pa.record_batch(
    {
        name: pa.array(values).dictionary_encode() if name in ("name", "note") else pa.array(values)
        for name, values in COLUMNS.items()
    }
)


def engine() -> Engine:
    made = Engine()
    made.add_stream("Stock", DECLARED)
    made.subscribe("up", query=QUERY, lineage=True)
    return made


def lines(results: Any) -> list[Any]:
    return [match.line() for match in results]


EXPECTED = lines(engine().publish("Stock", TIMES, ROWS))

GIVEN: dict[str, tuple[Any, Any]] = {
    "lists": (COLUMNS, TIMES),
    "arrays": (COLUMNS | {"price": array("d", COLUMNS["price"]), "volume": array("i", COLUMNS["volume"])}, TIMES),
    "times in an array": (COLUMNS, array("q", TIMES)),
    "a view of memory": (COLUMNS | {"price": memoryview(array("d", COLUMNS["price"]))}, memoryview(array("i", TIMES))),
    "ints for floats": (COLUMNS | {"price": [1, 2, 1.5, 3]}, TIMES),
    "small ints for floats": (COLUMNS | {"volume": np.array(COLUMNS["volume"], np.uint8)}, TIMES),
    "singles": (COLUMNS | {"price": np.array(COLUMNS["price"], np.float32)}, np.array(TIMES)),
    "another byte order": (COLUMNS | {"price": np.array(COLUMNS["price"]).astype(">f8")}, TIMES),
    "every second number": (COLUMNS | {"volume": np.array([5, 0, 6, 0, 7, 0, 8, 0])[::2]}, TIMES),
    "texts of numpy": (COLUMNS | {"name": np.array(COLUMNS["name"])}, np.array(TIMES, np.int32)),
    "unsigned": (COLUMNS | {"volume": np.array(COLUMNS["volume"], np.uint64)}, TIMES),
    "coded texts": (COLUMNS | {"name": CodedTexts(np.array([1, 0, 1, 0], np.int8), ["B", "A"])}, TIMES),
    "codes in a list, one null": (COLUMNS | {"note": CodedTexts([-1, 0, 1, -1], ("x", "é"))}, TIMES),
    "a record batch": (ARROW, TIMES),
    "a part of one": (LATER, pa.array(TIMES, pa.timestamp("us"))),
    "dictionaries of Arrow": (CODED, pa.array([1_000 * time for time in TIMES], pa.timestamp("ns"))),
    "arrays of Arrow": (COLUMNS | {"price": ARROW["price"], "name": CODED["name"], "change": LATER["change"]}, TIMES),
    "large strings": (COLUMNS | {"name": pa.array(COLUMNS["name"], pa.large_string())}, pa.array(TIMES, pa.int32())),
    "floats of Arrow that are single": (COLUMNS | {"price": pa.array(COLUMNS["price"], pa.float32())}, TIMES),
}


@pytest.mark.parametrize("given", GIVEN)
def test_columns_are_rows(given: str) -> None:
    columns, times = GIVEN[given]
    own = engine()
    assert lines(own.publish_columns("Stock", columns, times)) == EXPECTED
    assert own.now == 4
    own.check_invariants()


def test_ids_and_starts_may_be_buffers() -> None:
    ids, starts = [7, 8, 9, 10], [0, 2, 2, 3]
    rows = lines(engine().publish("Stock", TIMES, ROWS, ids, starts))
    assert lines(engine().publish_columns("Stock", COLUMNS, TIMES, np.array(ids), array("q", starts))) == rows


def test_what_may_be_null_may_be_missing() -> None:
    without = {name: COLUMNS[name] for name in ("name", "price", "volume")}
    (match,) = engine().publish_columns("Stock", {**without, "price": [1.0, 2.0, 1.5, 2.0]}, TIMES)
    assert match.data["note"] is None
    assert match.data["open_1"] is None


def test_a_stream_without_attributes_and_a_batch_without_events() -> None:
    own = engine()
    own.add_stream("Tick", {})
    own.subscribe("ticks", query="SELECT * FROM Tick")
    assert len(own.publish_columns("Tick", {}, [5, 5])) == 2
    assert len(own.publish_columns("Stock", {name: [] for name in COLUMNS}, [])) == 0
    assert len(own.publish_columns("Stock", ARROW.slice(0, 0), pa.array([], pa.timestamp("s")))) == 0


def test_columns_of_a_stream_with_disorder_wait_as_rows_do() -> None:
    found = []
    for columns in (False, True):
        own = Engine()
        own.add_stream("Stock", DECLARED, disorder="buffer")
        own.subscribe("up", query=QUERY, lineage=True)
        late = [3, 4, 5, 1]
        first = own.publish_columns("Stock", ARROW, late) if columns else own.publish("Stock", late, ROWS)
        found.append(lines(first) + lines(own.punctuate(9)))
    assert found[0] == found[1] != []


def test_a_column_that_is_published_is_not_kept() -> None:
    own, columns = engine(), {name: list(values) for name, values in COLUMNS.items()}
    prices = array("d", columns["price"])
    results = own.publish_columns("Stock", columns | {"price": prices}, TIMES)
    for values in columns.values():
        values.clear()
    prices[0] = 99.0
    assert lines(results) == EXPECTED


REFUSED: dict[str, tuple[Any, str]] = {
    "a text": ({"price": [1.0, 2.0, "x", 4.0]}, "stream 'Stock', row 2, attribute 'price': expected float, found"),
    "NaN": ({"price": np.array([1.0, 2.0, np.nan, 4.0])}, "row 2, attribute 'price': expected float, found float nan"),
    "infinity": ({"price": array("d", [1.0, 2.0, 3.0, float("inf")])}, "row 3, attribute 'price': expected float"),
    "NaN for null": ({"change": np.array([1.0, np.nan, 2.0, 2.0])}, "row 1, attribute 'change': expected float or nu"),
    "too short": ({"price": [1.0]}, "attribute 'price': expected 4 values, one for each time, found 1"),
    "unknown": ({"pric": [1.0] * 4}, "found string 'pric'; did you mean 'price'?"),
    "no name": ({5: [1.0] * 4}, "expected only its attributes"),
    "a code too large": ({"name": CodedTexts([0, 1, 2, 0], ["A", "B"])}, "row 2, attribute 'name': expected a code of"),
    "a code too small": ({"note": CodedTexts(array("b", [0, -2, 0, 0]), ["A"])}, "row 1, attribute 'note': expected a"),
    "no code": ({"name": CodedTexts([0, 1.0, 1, 0], ["A", "B"])}, "row 1, attribute 'name': expected a code of one"),
    "null in coded texts": ({"name": CodedTexts([0, 1, -1, 0], ["A", "B"])}, "row 2, attribute 'name': expected stri"),
    "a text that is none": ({"name": CodedTexts([0, 1, 0, 0], ["A", "\ud800"])}, "row 1, attribute 'name': expected"),
    "coded texts for ints": ({"volume": CodedTexts([0, 1, 0, 0], ["A", "B"])}, "row 0, attribute 'volume': expected "),
    "one text": ({"name": "ABAB"}, "attribute 'name': expected a column of values, found string 'ABAB'"),
    "bytes": ({"volume": b"ABAB"}, "attribute 'volume': expected a column of values, found"),
    "an iterator": ({"volume": iter([1, 2, 3, 4])}, "attribute 'volume': expected a column of values, found"),
    "too large": ({"volume": np.array([1, 2, 3, 2**64 - 1], np.uint64)}, "row 3, attribute 'volume': expected int, f"),
    "floats for ints": ({"volume": np.array([1.0, 2.0, 3.0, 4.0])}, "row 0, attribute 'volume': expected int, found "),
    "bools for ints": ({"volume": [1, 2, True, 4]}, "row 2, attribute 'volume': expected int, found bool true"),
    "ints for bools": ({"open": array("b", [1, 0, 1, 0])}, "row 0, attribute 'open': expected bool or null, found in"),
    "decimals": ({"price": pa.array([1, 2, 3, 4], pa.decimal128(5, 2))}, "attribute 'price': expected a column of num"),
    "no UTF-8": (
        {"name": pa.StringArray.from_buffers(4, pa.py_buffer(array("i", [0, 1, 2, 3, 4])), pa.py_buffer(b"AB\xffC"))},
        "row 2, attribute 'name': expected string, found",
    ),
}


@pytest.mark.parametrize("given", REFUSED)
def test_what_does_not_fit_is_refused_whole(given: str) -> None:
    wrong, words = REFUSED[given]
    own = engine()
    with pytest.raises(EventError) as refused:
        own.publish_columns("Stock", COLUMNS | wrong, TIMES)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert own.now is None
    assert lines(own.publish("Stock", TIMES, ROWS)) == EXPECTED


def test_what_is_missing_late_or_no_columns_is_refused() -> None:
    own = engine()
    with pytest.raises(EventError, match="attribute 'price': expected float, found nothing"):
        own.publish_columns("Stock", {"name": COLUMNS["name"]}, TIMES)
    with pytest.raises(EventError, match=r"expected columns by attribute, as \{'name': \[...\], .*, found a list"):
        own.publish_columns("Stock", ROWS, TIMES)
    with pytest.raises(LateEvent, match="row 1: expected a time of 2 or later, found 1"):
        own.publish_columns("Stock", COLUMNS, np.array([2, 1, 3, 4]))
    with pytest.raises(EventError, match="expected 4 ids, one a time, found 2"):
        own.publish_columns("Stock", COLUMNS, TIMES, ids=[1, 2])
    with pytest.raises(EventError, match="row 1: expected a time, found null"):
        own.publish_columns("Stock", COLUMNS, pa.array([1, None, 3, 4], pa.timestamp("us")))
    with pytest.raises(EventError, match="expected timestamps of Arrow, found a column of its type string 'd:5,2'"):
        own.publish_columns("Stock", COLUMNS, pa.array([1, 2, 3, 4], pa.decimal128(5, 2)))


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(-(2**64), 2**64),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**60, float("nan"), 10**400]),
    st.text(max_size=9),
    st.sampled_from(["a", "IBM", "a longer text", "\ud800", b"bytes"]),
)
_PLAIN = {"float": st.floats(allow_nan=False), "int": st.integers(-(2**63), 2**63 - 1), "string": st.text()}


@given(
    st.sampled_from(["float", "int", "string", "bool"]),
    st.booleans(),
    st.one_of(
        st.lists(_VALUES, max_size=6),
        st.sampled_from(["float", "int", "string"]).flatmap(
            lambda kind: st.lists(_PLAIN[kind], max_size=80)
        ),
    ),
)
def test_packed_columns_of_rows_are_those_of_their_values(kind: str, nullable: bool, values: list[Any]) -> None:
    """Where there are any; and there are, where all values are plain and few texts differ."""
    stream = StreamDefinition("S", Schema.declare({"x": "int", "y": f"{kind}{'?' * nullable}"}))
    attribute = stream.schema.attributes[1]
    made = packed_column(attribute, [(0, value) for value in values], 1)
    expected = column_of(attribute, values, stream)
    if made is not None:
        assert expected is not None
        assert [(type(each), each) for each in made.values()] == [(type(each), each) for each in expected.values()]
    elif kind != "bool" and None not in values and len(values) <= FIRST:
        assert expected is None


def test_texts_most_of_which_differ_are_left_to_the_list() -> None:
    attribute = Schema.declare({"x": "string"}).attributes[0]
    for count, left in ((FIRST, False), (FIRST + 1, True)):
        assert (packed_column(attribute, [(f"t{at}",) for at in range(count)], 0) is None) == left
    assert packed_column(attribute, [(f"t{at % 9}",) for at in range(500)], 0) is not None
