"""Times of any unit and of other libraries become microseconds, and a number of another unit is recognised."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import (
    LARGEST,
    DefinitionError,
    EventError,
    Schema,
    StreamDefinition,
    TimeUnit,
    as_datetime,
    check_unit,
    instant_of,
    instants_of,
)

SECONDS = 1_714_548_600
MOMENT = 1_714_548_600_000_000
ISO = "2024-05-01T07:30:00"


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (SECONDS, "s"),
        (SECONDS * 1_000, "ms"),
        (MOMENT, "us"),
        (MOMENT, None),
        (MOMENT * 1_000 + 999, "ns"),
        (float(SECONDS), "s"),
        (str(SECONDS), "s"),
        (f"{SECONDS}.000", "s"),
        (ISO, "s"),
        (ISO, "iso"),
        (datetime(2024, 5, 1, 7, 30, tzinfo=UTC), "ms"),
        (datetime(2024, 5, 1, 9, 30, tzinfo=timezone(timedelta(hours=2))), None),
        (pd.Timestamp(ISO), None),
        (pd.Timestamp("2024-05-01T09:30+02:00"), None),
        (np.datetime64(ISO), None),
        (np.datetime64(ISO, "ns"), "s"),
        (np.int64(SECONDS), "s"),
        (np.float64(SECONDS), "s"),
    ],
    ids=str,
)
def test_a_time_of_any_kind(value: object, unit: TimeUnit | None) -> None:
    assert instant_of(value, unit) == MOMENT


@pytest.mark.parametrize(
    "times",
    [
        [SECONDS, float(SECONDS), ISO],
        np.array([SECONDS] * 3),
        np.array([ISO] * 3, dtype="datetime64[ns]"),
        pd.Series(pd.to_datetime([ISO] * 3)),
        pd.DatetimeIndex(["2024-05-01T09:30+02:00"] * 3),
        pd.Series([SECONDS] * 3, index=[7, 8, 9]),
    ],
    ids=lambda times: type(times).__name__,
)
def test_a_column_of_any_kind(times: list[object]) -> None:
    assert list(instants_of(times, "s")) == [MOMENT] * 3


def test_microseconds_are_not_copied() -> None:
    times = [1, 2, 3]
    assert instants_of(times) is times


@given(st.integers(0, LARGEST // 1_000_000 - 1), st.integers(0, 999_999))
def test_fractions_of_seconds_as_text_are_exact(seconds: int, micros: int) -> None:
    assert instant_of(f"{seconds}.{micros:06}", "s") == seconds * 1_000_000 + micros


@pytest.mark.parametrize(
    ("value", "unit", "reason"),
    [
        (datetime.fromisoformat("2024-05-01"), None, "expected a datetime with a time zone, found .* without one"),
        (1.5, None, "expected a time in microseconds or ISO-8601 such as .*, found float 1.5"),
        (1.5, "ns", "expected a whole number as a time in ns, found float 1.5"),
        (float("nan"), "s", "expected a whole number as a time in s, found float nan"),
        (pd.NaT, None, "expected a time, found NaT"),
        (np.datetime64("NaT"), None, "expected a time, found NaT"),
        (5, "iso", "expected a time in ISO-8601, found int 5"),
        ("5", "iso", "expected a time in ISO-8601, found string '5'"),
        (LARGEST, "s", "expected a time at most 2\\*\\*61 microseconds from 1970"),
        ("1.0000001", "s", "expected a time exact in microseconds"),
        (True, "s", "expected a time in microseconds or ISO-8601"),
        (None, "s", "found null"),
    ],
    ids=str,
)
def test_what_is_no_time_is_refused(value: object, unit: TimeUnit | None, reason: str) -> None:
    with pytest.raises(EventError, match=reason):
        instant_of(value, unit)


@pytest.mark.parametrize(("time", "unit"), [(SECONDS, "s"), (SECONDS * 1_000, "ms"), (SECONDS * 10**9, "ns")])
def test_a_number_that_can_only_be_another_unit_is_named(time: int, unit: str) -> None:
    with pytest.raises(EventError, match=f"found {time}, which is {ISO}Z in .*: declare .* with --time-unit {unit}"):
        check_unit(time, None, "--time-unit {}")
    check_unit(time, "us", "--time-unit {}")


def test_other_numbers_are_of_no_other_unit() -> None:
    for time in (-1, 0, 1, 10**6, 10**9 - 1, MOMENT, LARGEST):
        check_unit(time, None, "")


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_datetimes_round_trip(instant: int) -> None:
    moment = as_datetime(instant)
    assert moment is not None
    assert instant_of(moment) == instant


def test_beyond_the_calendar_there_is_no_datetime() -> None:
    assert as_datetime(LARGEST) is None
    assert as_datetime(None) is None


def test_a_unit_belongs_to_the_definition_but_not_to_what_the_stream_is() -> None:
    plain = StreamDefinition("S", Schema.declare({}))
    assert StreamDefinition("S", Schema.declare({}), time_unit="s") == plain
    with pytest.raises(DefinitionError, match="stream 'S': time_unit: expected s, ms, us, ns or iso, found"):
        StreamDefinition("S", Schema.declare({}), time_unit="sec")  # type: ignore[arg-type]
