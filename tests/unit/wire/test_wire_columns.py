"""Events in columns on the wire: what fits is read to the bit, and columns that lie are refused with the place."""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events.event_columns import EventColumns, columns_of, numbers_of, plain_numbers
from broker.wire import BATCH_EVENTS_MAX, FRAME_BYTES_MAX, Publish, WireError, decode

INT = {"type": "int", "data": b"\x00\x01\x05", "least": 7}
FLOAT = {"type": "float", "data": struct.pack("<3d", 1.5, -0.0, 2.0)}
TEXT = {"type": "string", "data": b"\x01\x00\x01", "texts": ["a", "é"]}
BOOL = {"type": "bool", "data": b"\x01\x00\x01"}


def frame(columns: Any, count: Any = 3, times: Any = None, ids: Any = None) -> bytes:
    made: bytes = msgpack.packb([5, 7, "S", times, {"count": count, "columns": columns}, ids, *[None] * 5])
    return made


def read(columns: Any, **more: Any) -> Publish:
    message = decode(frame(columns, **more))
    assert isinstance(message, Publish)
    assert isinstance(message.rows, EventColumns)
    return message


def test_what_another_program_would_send() -> None:
    times = {"type": "int", "data": struct.pack("<3H", 0, 65_535, 256), "least": -1}
    batch = read([INT, FLOAT, TEXT, BOOL], times=times, ids=[4, 5, 6])
    assert list(batch.rows) == [(7, 1.5, "é", True), (8, -0.0, "a", False), (12, 2.0, "é", True)]
    assert batch.times == [-1, 65_534, 255]
    assert batch.ids == (4, 5, 6)


def test_null_is_a_bit_that_is_not_set() -> None:
    wild = [
        {**INT, "valid": b"\x05"},
        {"type": "float", "data": struct.pack("<3d", 1.5, float("nan"), float("inf")), "valid": b"\x01"},
        {"type": "string", "data": b"\x00\xff\x00", "texts": ["a"], "valid": b"\xfd"},
        {"type": "bool", "data": b"\x00\x09\x01", "valid": b"\x05"},
    ]
    assert list(read(wild).rows) == [(7, 1.5, "a", False), (None, None, None, None), (12, None, "a", True)]


def test_the_empty_batch() -> None:
    empty = [{"type": "int", "data": b"", "least": 0}, {"type": "string", "data": b"", "texts": []}]
    assert list(read(empty, count=0).rows) == []
    assert list(read([], count=2).rows) == [(), ()]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(1, 64))
def test_whole_numbers_of_any_width_come_back(numbers: list[int], bits: int) -> None:
    near = [-(2**63) + (number % 2**bits) if number < 0 else number % 2**bits for number in numbers]
    near = [number if number < 2**63 else number - 2**64 for number in near]
    for each in (near, [abs(number) % 2**bits % 2**63 for number in near]):
        plain = plain_numbers(each)
        assert numbers_of(plain, len(each)) == each
        least = min(each, default=0)
        narrow = next(width for width in (1, 2, 4, 8) if width == 8 or max(each, default=0) - least < 256**width)
        assert len(plain["data"]) == narrow * len(each)


WRONG = [
    ("no map", [5], "column 0: expected a map with a type, one of float, int, bool, string, string[], found int 5"),
    ("unknown type", [{**INT, "type": "decimal"}], "column 0: expected a map with a type"),
    ("type of another kind", [{**INT, "type": ["int"]}], "column 0: expected a map with a type"),
    ("unknown field", [INT, {**FLOAT, "unit": "EUR"}], "column 1: expected only type, data, valid in type float"),
    ("field of another type", [{**INT, "texts": []}], "expected only type, data, least, valid in type int"),
    ("no data", [{"type": "int", "least": 0}], "data: expected a byte string, found null"),
    ("data as text", [{**BOOL, "data": "abc"}], "data: expected a byte string, found string 'abc'"),
    ("too short", [{**INT, "data": b"12"}], "data: expected 3 or 6 or 12 or 24 bytes for 3 events, found 2"),
    ("too long", [{**FLOAT, "data": bytes(32)}], "data: expected 24 bytes for 3 events, found 32"),
    ("texts of eight bytes", [{**TEXT, "data": bytes(24)}], "data: expected 3 or 6 or 12 bytes for 3 events, found 24"),
    ("bools of two bytes", [{**BOOL, "data": bytes(6)}], "data: expected 3 bytes for 3 events, found 6"),
    ("no least", [{"type": "int", "data": bytes(3)}], "least: expected -2**63 to 9223372036854775552"),
    ("least as float", [{**INT, "least": 1.0}], "least: expected -2**63 to"),
    ("least as bool", [{**INT, "least": True}], "least: expected -2**63 to"),
    ("sums beyond 64 bits", [{**INT, "least": 2**63 - 1}], "least: expected -2**63 to 9223372036854775552"),
    ("least beyond 64 bits", [{**INT, "least": 2**64 - 1}], "least: expected -2**63 to 9223372036854775552"),
    ("least of eight bytes", [{**INT, "data": bytes(24)}], "least: expected 0, as the numbers have 8 bytes"),
    ("NaN", [{**FLOAT, "data": struct.pack("<3d", 1, float("nan"), 1)}], "event 1: expected a finite float, found nan"),
    ("infinite", [{**FLOAT, "data": struct.pack("<3d", 1, 1, float("-inf"))}], "event 2: expected a finite float"),
    ("no texts", [{"type": "string", "data": bytes(3)}], "texts: expected an array of strings, found null"),
    ("texts as text", [{**TEXT, "texts": "ab"}], "texts: expected an array of strings, found string 'ab'"),
    ("text as number", [{**TEXT, "texts": ["a", 1]}], "texts: expected strings, found int 1"),
    ("text as bytes", [{**TEXT, "texts": ["a", b"b"]}], "texts: expected strings"),
    ("text twice", [{**TEXT, "texts": ["a", "a"]}], "texts: expected each once, found one twice"),
    ("number without text", [{**TEXT, "data": b"\x01\x02\x00"}], "expected the number of one of 2 texts, found 2"),
    ("no bool", [{**BOOL, "data": b"\x00\x01\x02"}], "event 2: expected 0 or 1 as a bool, found 2"),
    ("bits as text", [{**INT, "valid": "x"}], "valid: expected 1 bytes, a bit for each event, found string 'x'"),
    ("too many bits", [{**INT, "valid": b"\x01\x01"}], "valid: expected 1 bytes, a bit for each event, found 2 bytes"),
    ("no bits", [{**INT, "valid": b""}], "valid: expected 1 bytes, a bit for each event, found 0 bytes"),
]


@pytest.mark.parametrize(("columns", "reason"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_columns_that_lie_are_refused(columns: Any, reason: str) -> None:
    with pytest.raises(WireError) as raised:
        decode(frame(columns))
    assert reason in str(raised.value)
    assert str(raised.value).startswith("Publish.rows: ")
    assert raised.value.correlation == 7


@pytest.mark.parametrize("count", [-1, BATCH_EVENTS_MAX + 1, 2**63, True, 1.0, None, "3"], ids=repr)
def test_counts_that_lie_are_refused(count: Any) -> None:
    with pytest.raises(WireError, match=r"Publish.rows: count: expected 0 to 8,192 events"):
        decode(frame([], count))


def test_the_batch_itself() -> None:
    for rows in ({}, {"count": 1}, {"count": 1, "columns": [], "more": 1}):
        with pytest.raises(WireError, match=r"Publish.rows: expected a map of count and columns"):
            decode(msgpack.packb([5, 7, "S", None, rows, *[None] * 6]))
    with pytest.raises(WireError, match=r"Publish.rows: columns: expected an array, found an object"):
        decode(frame({}))


def test_times_and_ids_that_lie_are_refused() -> None:
    with pytest.raises(WireError, match=r"Publish.times: expected 3 values, one for each row, found 2"):
        decode(frame([INT], times=[1, 2]))
    with pytest.raises(WireError, match=r"Publish.times: data: expected 3 or 6 or 12 or 24 bytes .*, found 4"):
        decode(frame([INT], times={**INT, "data": bytes(4)}))
    for other in (FLOAT, {**INT, "valid": b"\x01"}):
        with pytest.raises(WireError, match=r"Publish.ids: expected a column of type int without nulls, found another"):
            decode(frame([INT], ids=other))
    packed_beside_rows = decode(msgpack.packb([5, 7, "S", INT, [[1], [2], [3]], *[None] * 6]))
    assert isinstance(packed_beside_rows, Publish)
    assert packed_beside_rows.times == [7, 8, 12]


def test_the_worst_columns_are_read_in_bounded_memory() -> None:
    # Numbers of two bytes with nulls become objects: the most that columns of a frame become.
    one = {"type": "int", "data": bytes(range(256)) * 64, "least": 2**40, "valid": bytes([127]) * 1_024}
    given = frame([one] * (FRAME_BYTES_MAX // len(msgpack.packb(one))), count=BATCH_EVENTS_MAX)
    assert FRAME_BYTES_MAX * 0.9 < len(given) <= FRAME_BYTES_MAX
    tracemalloc.start()
    try:
        assert isinstance(decode(given), Publish)
        assert tracemalloc.get_traced_memory()[1] < 100 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_part_of_a_batch() -> None:
    rows = read([INT, TEXT]).rows
    part = rows[1:]
    assert (len(part), part[0], part[-1], list(part)) == (2, (8, "a"), (12, "é"), [(8, "a"), (12, "é")])
    assert isinstance(part, EventColumns)
    assert columns_of(part.plain(), 2) == part
    assert list(part[1:5]) == [(12, "é")]
    assert list(rows[::-1]) == [(12, "é"), (8, "a"), (7, "é")]
    with pytest.raises(IndexError):
        part[2]


@pytest.mark.parametrize("numbers", [[2**63 - 1], [-(2**63)], [2**63 - 300, 2**63 - 1], [-(2**63), 2**63 - 1]])
def test_numbers_at_the_ends_of_64_bits_come_back(numbers: list[int]) -> None:
    assert numbers_of(plain_numbers(numbers), len(numbers)) == numbers
