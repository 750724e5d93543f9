"""A row that is let through fits its schema exactly, and every other one is refused in words."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import (
    LARGEST,
    EventError,
    LateEvent,
    Row,
    Schema,
    StreamDefinition,
    Value,
    check_rows,
    check_starts,
    check_times,
    row_from_mapping,
    row_from_text,
)

STOCK = StreamDefinition(
    "Stock", Schema.declare({"name": "string", "price": "float", "volume": "int", "open": "bool", "note": "string?"})
)
GOOD: Row = ("IBM", 101.5, 200, True, None)
PLACES = {"name": 0, "price": 1, "volume": 2, "open": 3, "note": 4}

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["\ud800", 10**400])
)
FITTING: st.SearchStrategy[Row] = st.tuples(
    st.text(max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.none() | st.text(max_size=5),
)


def changed(attribute: str, value: object) -> tuple[object, ...]:
    row: list[object] = list(GOOD)
    row[PLACES[attribute]] = value
    return tuple(row)


def fits(row: tuple[object, ...]) -> bool:
    """The law in the plainest words, for the five attributes of STOCK."""
    name, price, volume, is_open, note = row
    return (
        type(name) is str
        and not any("\ud800" <= letter <= "\udfff" for letter in name)
        and type(price) is float
        and math.isfinite(price)
        and type(volume) is int
        and -(2**63) <= volume < 2**63
        and type(is_open) is bool
        and (note is None or (type(note) is str and not any("\ud800" <= letter <= "\udfff" for letter in note)))
    )


@given(st.lists(FITTING, max_size=6))
def test_fitting_rows_are_returned_as_they_are(rows: list[Row]) -> None:
    assert check_rows(STOCK, rows) is rows


@given(st.lists(FITTING | st.tuples(PLAIN, PLAIN, PLAIN, PLAIN, PLAIN), max_size=4))
def test_what_is_let_through_fits_and_only_ints_were_changed(rows: list[Row]) -> None:
    message = ""
    try:
        checked = check_rows(STOCK, rows)
    except EventError as error:
        message = str(error)
    if message:
        assert message.startswith("stream 'Stock', row ")
        assert "\n" not in message
        assert not all(fits(row) for row in rows)
        return
    assert len(checked) == len(rows)
    for before, after in zip(rows, checked, strict=True):
        assert fits(after)
        price = before[1]
        assert isinstance(price, int | float)
        assert after == (before[0], float(price), *before[2:])


@given(st.dictionaries(st.sampled_from(["name", "price", "volume", "open", "note", "prize"]), PLAIN) | PLAIN)
def test_any_mapping_makes_a_fitting_row_or_an_event_error(data: Mapping[str, object]) -> None:
    message = ""
    try:
        assert fits(row_from_mapping(STOCK, data))
    except EventError as error:
        message = str(error)
    assert "\n" not in message


@given(FITTING)
def test_a_mapping_and_a_row_say_the_same(row: Row) -> None:
    data: dict[str, Value] = dict(zip(STOCK.schema.names, row, strict=True))
    assert row_from_mapping(STOCK, data) == row
    if data["note"] is None:
        del data["note"]
        assert row_from_mapping(STOCK, data) == row


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed("price", "abc"), "stream 'Stock', row 1, attribute 'price': expected float, found string 'abc'"),
        (changed("price", True), "expected float, found bool true"),
        (changed("price", math.nan), "found float nan, which is not a finite float"),
        (changed("price", -math.inf), "found float -inf, which is not a finite float"),
        (changed("price", 10**400), "found an int of 1329 bits, which is not a finite float"),
        (changed("volume", 5.0), "attribute 'volume': expected int, found float 5.0"),
        (changed("volume", False), "expected int, found bool false"),
        (changed("volume", 2**63), "found int 9223372036854775808, which does not fit 64 bits"),
        (changed("open", 1), "expected bool, found int 1"),
        (changed("name", None), "expected string, found null"),
        (changed("name", b"IBM"), "expected string, found a value of the Python type bytes"),
        (changed("note", 5), "attribute 'note': expected string or null, found int 5"),
        (changed("note", "\ud800"), "not valid Unicode"),
        (GOOD[:4], "row 1: expected 5 values, found 4"),
        ("IBM..", "row 1: expected a tuple of values, found string 'IBM..'"),
    ],
)
def test_wrong_values_are_named(row: Row, message: str) -> None:
    with pytest.raises(EventError) as caught:
        check_rows(STOCK, [GOOD, row, changed("name", 7)])
    assert message in str(caught.value)


def test_what_may_be_converted_is() -> None:
    class Ratio(float):
        pass

    rows = [GOOD, changed("price", 7), list(GOOD), changed("price", Ratio(0.5))]
    checked = check_rows(STOCK, rows)
    assert checked == [GOOD, changed("price", 7.0), GOOD, changed("price", 0.5)]
    assert {type(row) for row in checked} == {tuple}
    assert {type(row[1]) for row in checked} == {float}


def test_a_stream_without_attributes_has_empty_rows() -> None:
    tick = StreamDefinition("Tick", Schema(()))
    rows: list[Row] = [(), ()]
    assert check_rows(tick, rows) is rows
    with pytest.raises(EventError, match="expected 0 values, found 1"):
        check_rows(tick, [(1,)])
    with pytest.raises(EventError, match="only its attributes"):
        row_from_mapping(tick, {"a": 1})


def test_mappings_say_what_is_missing_and_what_is_unknown() -> None:
    good = {"name": "IBM", "price": 101, "volume": 200, "open": True}
    assert row_from_mapping(STOCK, good) == (*GOOD[:1], 101.0, *GOOD[2:])
    with pytest.raises(EventError, match=r"stream 'Stock', attribute 'price': expected float, found nothing"):
        row_from_mapping(STOCK, {"name": "IBM", "volume": 200, "open": True})
    with pytest.raises(EventError, match=r"found string 'nota'; did you mean 'note'\?"):
        row_from_mapping(STOCK, {**good, "nota": "x"})
    with pytest.raises(EventError, match=r"expected values by attribute, as .*, found a list"):
        row_from_mapping(STOCK, [1])  # type: ignore[arg-type]
    with pytest.raises(EventError, match="found int 5"):
        row_from_mapping(STOCK, {5: 1})


@given(st.lists(st.integers(-LARGEST, LARGEST), max_size=6), st.none() | st.integers(-LARGEST, LARGEST))
def test_times_pass_exactly_when_they_never_decrease(times: list[int], newest: int | None) -> None:
    everything = times if newest is None else [newest, *times]
    if everything == sorted(everything):
        check_times(STOCK, times, newest)
        check_times(STOCK, tuple(times), newest)
    else:
        with pytest.raises(LateEvent):
            check_times(STOCK, times, newest)


@pytest.mark.parametrize(("times", "newest", "distinct"), [
    ([], None, True), ([5], None, True), ([5, 7, 8], 4, True), ([5, 7, 7], 4, False), ([5, 7, 8], 5, False),
])  # fmt: skip
def test_times_that_are_all_different_are_known(times: list[int], newest: int | None, distinct: bool) -> None:
    assert check_times(STOCK, times, newest) is distinct


def test_late_events_name_both_times() -> None:
    with pytest.raises(LateEvent, match=r"^stream 'Stock', row 2: expected a time of 7 or later, found 6;"):
        check_times(STOCK, [5, 7, 6], 5)
    with pytest.raises(LateEvent, match=r"row 0: expected a time of 9 or later, found 8"):
        check_times(STOCK, [8], 9)


@pytest.mark.parametrize("wrong", [True, 5.0, "5", None, LARGEST + 1, -LARGEST - 1])
def test_what_is_no_time_is_no_late_event(wrong: int) -> None:
    with pytest.raises(EventError, match="row 1: expected microseconds") as caught:
        check_times(STOCK, [5, wrong], None)
    assert not isinstance(caught.value, LateEvent)


def test_starts() -> None:
    check_starts(STOCK, [1, 2], [1, 5])
    with pytest.raises(EventError, match="expected 2 starts, one for each time, found 1"):
        check_starts(STOCK, [1], [1, 5])
    with pytest.raises(EventError, match="row 1: expected a start in microseconds, not after the time 5, found int 6"):
        check_starts(STOCK, [1, 6], [1, 5])
    with pytest.raises(EventError, match="found bool true"):
        check_starts(STOCK, [True], [5])


@given(FITTING)
def test_text_of_a_row_is_read_back(row: Row) -> None:
    texts = {name: "" if value is None else str(value) for name, value in zip(STOCK.schema.names, row, strict=True)}
    expected = (*row[:4], row[4] or None)  # empty text is null where null is allowed
    assert row_from_text(STOCK, texts) == expected


@pytest.mark.parametrize("blank", [" ", "\t", "\x1f", "\u2003"])
def test_blanks_around_a_number_do_not_count(blank: str) -> None:
    texts = {"name": "IBM", "price": f"{blank}1.5{blank}", "volume": f"{blank}2{blank}", "open": f"{blank}true{blank}"}
    assert row_from_text(STOCK, texts)[:4] == ("IBM", 1.5, 2, True)


@given(st.dictionaries(st.sampled_from(["name", "price", "volume", "open", "note"]), st.none() | st.text(max_size=6)))
def test_any_text_makes_a_fitting_row_or_an_event_error(texts: dict[str, str | None]) -> None:
    message = ""
    try:
        assert fits(row_from_text(STOCK, texts))
    except EventError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("price", "abc", "attribute 'price': expected float, found string 'abc'"),
        ("price", "", "expected float, found empty text"),
        ("price", "nan", "found string 'nan'"),
        ("price", "1e999", "found string '1e999'"),
        ("price", "1_000", "found string '1_000'"),
        ("volume", "5.0", "expected int, found string '5.0'"),
        ("volume", "9" * 30, "does not fit 64 bits"),
        ("volume", "9" * 9999, "expected int, found string '999"),
        ("open", "yes", "expected bool, found string 'yes'"),
        ("open", None, "expected bool, found nothing"),
        ("prise", "5", "did you mean 'price'?"),
        (None, "5", "found null"),
    ],
)
def test_wrong_text_is_named(column: str, text: str, message: str) -> None:
    with pytest.raises(EventError) as caught:
        row_from_text(STOCK, {"name": "IBM", "price": "1", "volume": "2", "open": "TRUE", column: text})
    assert message in str(caught.value)


def test_blanks_count_only_within_strings() -> None:
    texts = {"name": " ", "price": " .5e1 ", "volume": "+7 ", "open": " False", "note": None}
    assert row_from_text(STOCK, texts) == (" ", 5.0, 7, False, None)


def test_values_of_numpy_and_pandas_are_plain_ones() -> None:
    stream = StreamDefinition("S", Schema.declare({"s": "string", "i": "int", "f": "float", "b": "bool", "n": "int?"}))
    given = (np.str_("x"), np.int64(3), np.float32(0.5), np.bool_(True), pd.NA)
    rows = check_rows(stream, [given])
    assert rows == [("x", 3, 0.5, True, None)]
    assert [type(value) for value in rows[0]] == [str, int, float, bool, type(None)]
    assert row_from_mapping(stream, dict(zip("sifbn", given))) == ("x", 3, 0.5, True, None)
    for wrong in (np.array([3, 4]), np.datetime64("2024-05-01"), pd.NaT, np.float64(1.5), np.uint64(2**64 - 1)):
        with pytest.raises(EventError, match="attribute 'i': expected int"):
            check_rows(stream, [("x", wrong, 0.5, True, None)])


def test_subclasses_of_texts_and_ints_are_plain_ones() -> None:
    class Colour(str, enum.Enum):  # noqa: UP042  # as programs have them
        RED = "red"

    stream = StreamDefinition("S", Schema.declare({"s": "string", "i": "int"}))
    [row] = check_rows(stream, [(Colour.RED, enum.IntEnum("Many", ["ONE"]).ONE)])  # type: ignore[attr-defined]
    assert row == ("red", 1)
    assert [type(value) for value in row] == [str, int]
