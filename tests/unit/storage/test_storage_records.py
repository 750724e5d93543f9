"""The journal's records: every one comes back as it was, and bytes that are none are refused with a reason."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.messages import event_columns_of

from broker.kernel.records import (
    AttributeAdded,
    BatchTaken,
    CursorAdded,
    CursorMoved,
    CursorPlaced,
    CursorSetAside,
    DeadLettersSettled,
    GapDeclared,
    ModelChanged,
    Punctuated,
    Record,
    Retracted,
    StreamClocked,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    TimeWasReset,
    Updated,
)
from broker.storage import Damaged
from broker.storage.records import KINDS, decode, encode

INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(max_size=20)
TEXT_OR_NONE = st.none() | TEXT
TEXTS = st.lists(TEXT, max_size=3)
REFUSED = st.lists(st.tuples(INTEGERS, TEXT, TEXT), max_size=3)
VALUES = st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False) | TEXT


@st.composite
def batches(draw: st.DrawFn) -> BatchTaken:
    count = draw(st.integers(0, 5))
    column = st.lists(INTEGERS, min_size=count, max_size=count)
    constant = INTEGERS.map(lambda value: [value] * count)
    counting = st.integers(1, 2**40).map(lambda first: range(first, first + count))
    in_rows = st.lists(st.lists(VALUES, min_size=2, max_size=2).map(tuple), min_size=count, max_size=count)
    rows = draw(in_rows | event_columns_of(count))
    return BatchTaken(
        draw(TEXT),
        draw(column | constant),
        rows,
        draw(column | counting),
        draw(st.none() | column),
        draw(TEXT_OR_NONE),
        draw(st.none() | INTEGERS),
        draw(REFUSED),
    )


RECORDS: st.SearchStrategy[Any] = st.one_of(
    batches(),
    st.builds(
        StreamDeclared,
        TEXT,
        st.dictionaries(TEXT, TEXT, max_size=3),
        TEXT_OR_NONE,
        TEXT,
        st.none() | INTEGERS,
        st.none() | INTEGERS,
        st.none() | INTEGERS,
        TEXT_OR_NONE,
        TEXT_OR_NONE,
    ),
    st.builds(
        SubscriptionAdded,
        TEXT,
        TEXT,
        TEXT,
        st.none() | st.booleans(),
        TEXT_OR_NONE,
        st.none() | st.dictionaries(TEXT, VALUES, max_size=3),
        st.dictionaries(TEXT, VALUES, max_size=3),
    ),
    st.builds(SubscriptionRemoved, TEXT),
    st.builds(AttributeAdded, TEXT, TEXT, TEXT),
    st.builds(StreamRemoved, TEXT),
    st.builds(SubscriptionReplaced, TEXT, TEXT, TEXT, st.booleans()),
    st.builds(Punctuated, INTEGERS, TEXT_OR_NONE, TEXT_OR_NONE, TEXT_OR_NONE, st.none() | INTEGERS),
    st.builds(Retracted, st.lists(INTEGERS, max_size=3), TEXT_OR_NONE, st.none() | INTEGERS, REFUSED),
    st.builds(GapDeclared, TEXT, INTEGERS, INTEGERS, TEXT_OR_NONE, st.none() | INTEGERS),
    st.builds(
        Updated, TEXT, TEXTS, TEXTS, st.none() | INTEGERS, st.none() | INTEGERS, TEXT_OR_NONE, st.none() | INTEGERS
    ),
    st.builds(StreamClocked, TEXT, st.booleans()),
    st.builds(ModelChanged, TEXT, TEXT),
    st.builds(CursorMoved, TEXT, st.none() | INTEGERS),
    st.builds(CursorPlaced, TEXT, INTEGERS),
    st.builds(CursorAdded, TEXT, TEXT, TEXT, INTEGERS, INTEGERS, INTEGERS, INTEGERS),
    st.builds(CursorSetAside, TEXT, INTEGERS, TEXT, INTEGERS, INTEGERS),
    st.builds(DeadLettersSettled, TEXT, st.lists(INTEGERS, max_size=3), st.booleans()),
    st.builds(TimeWasReset, TEXT, st.none() | INTEGERS),
)


def plain(record: Record) -> Record | tuple[Any, ...]:
    """A batch with lists for columns, whatever sequences they were."""
    if not isinstance(record, BatchTaken):
        return record
    starts = None if record.starts is None else list(record.starts)
    columns = (list(record.times), [tuple(row) for row in record.rows], list(record.ids), starts)
    return (record.stream, *columns, record.client, record.message, record.refused)


@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    assert plain(decode(*encode(record))) == plain(record)


@given(st.integers(0, max(KINDS) + 1), st.binary(max_size=30) | RECORDS.map(lambda record: encode(record)[1]))
def test_bytes_are_a_record_or_refused(kind: int, payload: bytes) -> None:
    try:
        record = decode(kind, payload)
    except Damaged:
        return
    assert isinstance(record, KINDS[kind][0])


def columns_record(columns: Any, times: Any = (1, 2)) -> bytes:
    payload: bytes = msgpack.packb(("S", times, columns, [1, 2], None, None, None, []))
    return payload


@pytest.mark.parametrize(
    ("kind", "payload", "said"),
    [
        (99, b"", "expected a record of a kind that this version knows, found kind 99"),
        (23, b"\xc1", "expected a StreamRemoved, found no msgpack"),
        (23, msgpack.packb([1]), "expected the 1 fields of a StreamRemoved, found others"),
        (14, msgpack.packb(["a", [[2]], True]), "expected a DeadLettersSettled with values of one type in a list"),
        (18, msgpack.packb([[1, "a"], None, None, []]), "expected a Retracted with values of one type in a list"),
        (18, msgpack.packb([[1], None, None, [[1, "a"]]]), "expected refusals in a Retracted, found something else"),
        (19, msgpack.packb(["a", [1], [], None, None, None, None]), "expected a Updated with values of one type"),
        (28, columns_record({"count": 2, "columns": []}, [1]), "expected columns of 2 values in a Batch, found others"),
        (28, columns_record({"count": 3, "columns": []}, 7), "expected columns of 3 values in a Batch, found others"),
        (28, columns_record({"count": 2, "columns": [{"type": "int", "data": b"1"}]}), "expected a Batch of columns"),
        (28, columns_record({"count": 2**40, "columns": []}, 7), "expected 0 to 65,536 events"),
        (9, msgpack.packb(["ann"]), "expected the 2 fields of a CursorMoved, found others"),
    ],
)
def test_what_is_refused_has_a_reason(kind: int, payload: bytes, said: str) -> None:
    with pytest.raises(Damaged, match=said):
        decode(kind, payload)


def test_columns_that_count_or_stay_cost_one_number() -> None:
    rows = [("IBM", float(n)) for n in range(100)]
    short = encode(BatchTaken("Stock", [7] * 100, rows, range(1_000, 1_100)))[1]
    long = encode(BatchTaken("Stock", list(range(100)), rows, list(range(0, 300, 3))))[1]
    assert len(long) - len(short) > 200


def test_columns_of_different_lengths_are_refused() -> None:
    payload = msgpack.packb(("S", [1, 2], [[1]], 1, None, None, None, []))
    with pytest.raises(Damaged, match="expected columns of 1 values in a Batch"):
        decode(4, payload)


def test_a_cursor_of_an_earlier_version_is_read_with_what_it_did_not_say() -> None:
    record = decode(11, msgpack.packb(["mine", "all", "ann", 10, 1_000]))
    assert record == CursorAdded("mine", "all", "ann", 10, 1_000, retain=0, letters=1_000)
    assert encode(record)[0] == 12
