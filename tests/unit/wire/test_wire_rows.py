"""Many rows in one message: they travel as one byte string, and mean what an array of rows means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events.batch import COMPILED
from broker.events.event_columns import EventColumns
from broker.events.packed_rows import COLUMNS_MAX, columns_of_rows
from broker.wire import BATCH_EVENTS_MAX, Publish, WireError, decode, encode

MANY: Final = 200
INTEGERS: Final = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(
    [bound + off for bits in (5, 7, 8, 15, 16, 31, 32) for bound in (2**bits, -(2**bits)) for off in (-1, 0, 1)]
)
TEXTS: Final = st.text(max_size=9) | st.sampled_from(
    ["", "\0", "IBM", "x" * 7, "y" * 8, "z" * 40, "é" * 200, "w" * 70_000]
)
NULLABLE: Final = {
    "float": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "string": st.none() | TEXTS,
    "bool": st.none() | st.booleans(),
}
PLAIN: Final = {"int": INTEGERS, "float": st.floats(allow_nan=False, allow_infinity=False), "string": TEXTS}


def rows_of(columns: list[Any]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(st.tuples(*columns), min_size=1, max_size=12)


simple: Final = st.lists(st.sampled_from([*PLAIN.values()]), min_size=1, max_size=5).flatmap(rows_of)
with_nulls: Final = st.lists(st.sampled_from([*NULLABLE.values()]), min_size=1, max_size=5).flatmap(rows_of)


@given(simple)
def test_rows_of_one_form_are_columns(rows: list[tuple[Any, ...]]) -> None:
    found = columns_of_rows(msgpack.packb(rows), BATCH_EVENTS_MAX)
    assert found is not None
    assert [[(type(value), repr(value)) for value in row] for row in found] == [
        [(type(value), repr(value)) for value in row] for row in rows
    ]


@given(with_nulls)
def test_nulls_are_kept(rows: list[tuple[Any, ...]]) -> None:
    found = columns_of_rows(msgpack.packb(rows), BATCH_EVENTS_MAX)
    if found is None:  # there is a column of nulls alone
        assert any(set(column) == {None} for column in zip(*rows))
    else:
        assert found.rows() == rows


@given(st.binary(max_size=60) | st.recursive(st.none() | INTEGERS | st.floats() | TEXTS | st.booleans(),
       lambda below: st.lists(below, max_size=3), max_leaves=12).map(msgpack.packb), st.integers(0, 3))  # fmt: skip
def test_whatever_comes_means_what_it_means_to_msgpack(data: bytes, cut: int) -> None:
    data = data[: len(data) - cut]
    found = columns_of_rows(data, BATCH_EVENTS_MAX)
    if found is not None:
        assert found.rows() == [tuple(row) for row in msgpack.unpackb(data)]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [()],
        [(1,), (1.5,)],
        [("a",), (1,)],
        [(True,), (1,)],
        [(1,), (1, 2)],
        [(None,), (1,)],
        [(1,), (None,)],
        [(None,)],
        [(float("nan"),)],
        [(float("-inf"),)],
        [(2**63,)],
        [((1,),)],
        [(b"x",)],
        [({},)],
        [(1,) * (COLUMNS_MAX + 1)],
        [(1,)] * 11,
        {"a": 1},
        7,
    ],
)
def test_other_rows_are_left_to_be_unpacked(rows: Any) -> None:
    assert columns_of_rows(msgpack.packb(rows), 10) is None


def test_texts_are_there_once_however_many_there_are() -> None:
    texts = [f"{at % 3_000}" if at % 2 else f"a longer text, {at % 2_000}" for at in range(8_000)]
    found = columns_of_rows(msgpack.packb([(text,) for text in texts]), BATCH_EVENTS_MAX)
    assert found is not None
    assert [text for (text,) in found] == texts
    assert found.plain()["columns"][0]["texts"] == list(dict.fromkeys(texts))


def sent(rows: Any) -> Publish:
    message = decode(encode(Publish(7, "S", None, rows, None, None)))
    assert isinstance(message, Publish)
    return message


def test_many_rows_travel_as_one_byte_string() -> None:
    rows = tuple((f"S{at % 3}", at * 0.5, at) for at in range(MANY))
    frame = encode(Publish(7, "S", None, rows, None, None))
    assert type(msgpack.unpackb(frame)[4]) is bytes
    found = sent(rows).rows
    assert type(found) is (EventColumns if COMPILED else tuple)
    assert tuple(found) == rows
    few = rows[:3]
    assert type(msgpack.unpackb(encode(Publish(7, "S", None, few, None, None)))[4]) is list
    assert sent(few).rows == few


@pytest.mark.parametrize(
    "change", [lambda row: (*row, None), lambda row: (row[0], None, None), lambda row: (None, row[1], 1 << 62)]
)
def test_rows_of_several_forms_are_rows(change: Callable[[Any], Any]) -> None:
    rows = tuple((f"S{at}", at * 0.5, at) for at in range(MANY))
    mixed = (*rows, change(rows[0]), *rows)
    assert tuple(sent(mixed).rows) == mixed


def test_rows_that_are_too_long_for_a_byte_string_travel_as_an_array() -> None:
    rows = tuple((f"{at}" * 1_000,) for at in range(10, 10 + MANY))
    assert type(msgpack.unpackb(encode(Publish(7, "S", None, rows, None, None)))[4]) is list
    assert sent(rows).rows == rows


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (msgpack.packb({"a": 1}), "Publish.rows: expected an array in the byte string, found a map"),
        (b"", "Publish.rows: not msgpack within the limits"),
        (b"\x91\x91", "not msgpack within the limits"),
        (msgpack.packb([[1]]) + b"\x01", "not msgpack within the limits"),
        (msgpack.packb([[1]] * (BATCH_EVENTS_MAX + 1)), "not msgpack within the limits"),
        (msgpack.packb([[msgpack.ExtType(4, b"x")]]), "Publish.rows: not msgpack within the limits"),
    ],
)
def test_other_byte_strings_are_refused(given: bytes, expected: str) -> None:
    with pytest.raises(WireError) as raised:
        decode(msgpack.packb([5, 7, "S", None, given, *[None] * 6]))
    assert expected in str(raised.value)
    assert raised.value.correlation == 7


def test_each_row_needs_its_time() -> None:
    rows = msgpack.packb([[1]] * MANY)
    with pytest.raises(WireError, match=r"Publish.times: expected 200 values, one for each row, found 2"):
        decode(msgpack.packb([5, 7, "S", [1, 2], rows, *[None] * 6]))
