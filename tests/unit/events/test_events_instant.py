"""What is written is read back exactly, and nothing is rounded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events import (
    LARGEST,
    UNITS,
    EventError,
    format_duration,
    format_instant,
    parse_duration,
    parse_instant,
)
from broker.events.instant import format_distance

YEARS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)


@given(st.integers(-LARGEST, LARGEST) | YEARS)
def test_instants_round_trip(instant: int) -> None:
    assert parse_instant(format_instant(instant)) == instant
    assert parse_instant(instant) == instant
    assert parse_instant(str(instant)) == instant


@given(st.integers(0, LARGEST) | st.builds(lambda n, u: n * UNITS[u], st.integers(0, 5000), st.sampled_from([*UNITS])))
def test_durations_round_trip(duration: int) -> None:
    assert parse_duration(format_duration(duration)) == duration
    assert parse_duration(format_distance(duration)) == duration
    assert parse_duration(duration) == duration
    assert parse_duration(str(duration)) == duration


@given(st.integers(0, 5000), st.sampled_from([*UNITS]), st.sampled_from(["", " ", "  "]))
def test_every_unit_is_read(count: int, unit: str, blank: str) -> None:
    assert parse_duration(f"{count}{blank}{unit}") == count * UNITS[unit]
    assert parse_duration(f" {count}{blank}{unit.upper()} ") == count * UNITS[unit]


@given(st.datetimes(), st.integers(-1439, 1439))
def test_iso_with_an_offset_is_what_the_calendar_says(moment: datetime, minutes: int) -> None:
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    utc = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert parse_instant(moment.isoformat()) == utc
    assert parse_instant(moment.isoformat() + offset) == utc - minutes * 60_000_000
    assert parse_instant(moment.isoformat(" ") + offset.replace(":", "")) == utc - minutes * 60_000_000


@given(st.text(max_size=30) | st.from_regex(r"[-0-9:.TZ+ minsuhor]{0,30}", fullmatch=True))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    for parse in (parse_instant, parse_duration):
        message = "expected"
        try:
            assert abs(parse(text)) <= LARGEST
        except EventError as error:
            message = str(error)
        assert "expected" in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01 00:01", 60_000_000),
        ("1970-01-01T00:00:00.5", 500_000),
        ("1970-01-01T00:00:00,000001z", 1),
        ("1970-01-01T01:00:00+01", 0),
        ("1970-01-01T00:00:00.000001000Z", 1),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("20240501", 20_240_501),
        ("-5", -5),
    ],
)
def test_instants_as_written(text: str, instant: int) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.000001Z"),
        (2**61, str(2**61)),
        (253_402_300_800_000_000, "253402300800000000"),
    ],
)
def test_instants_are_written(instant: int, text: str) -> None:
    assert format_instant(instant) == text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("yesterday", "ISO-8601"),
        ("2024-13-01", "that the calendar has"),
        ("2024-02-30T00:00:00Z", "that the calendar has"),
        ("2024-05-01T25:00:00Z", "that the calendar has"),
        ("2024-05-01T00:00:00+25:00", "that the calendar has"),
        ("1970-01-01T00:00:00.1234567Z", "exact in microseconds"),
        ("", "ISO-8601"),
        (2**61 + 1, "at most 2**61"),
        ("9" * 30, "at most 2**61"),
        ("9" * 5000, "ISO-8601"),
        (True, "found bool true"),
        (5.0, "found float 5.0"),
        (None, "found null"),
    ],
)
def test_wrong_instants_say_what_was_expected(written: str, message: str) -> None:
    with pytest.raises(EventError) as caught:
        parse_instant(written)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("5 min", 300_000_000),
        ("5min", 300_000_000),
        ("12 hours", 43_200_000_000),
        ("0.5 s", 500_000),
        ("1.000001 sec", 1_000_001),
        ("2.50 ms", 2_500),
        ("1 Week", 604_800_000_000),
        ("7.0", 7),
    ],
)
def test_durations_as_written(text: str, duration: int) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (300_000_000, "5 min"),
        (0, "0 us"),
        (1, "1 us"),
        (1_500, "1500 us"),
        (90_000_000, "90 s"),
        (3_600_000_000, "1 hour"),
        (129_600_000_000, "36 hours"),
        (1_209_600_000_000, "2 weeks"),
    ],
)
def test_durations_are_written(duration: int, text: str) -> None:
    assert format_duration(duration) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (59_999_993, "59.999993 s"),
        (1_500_000, "1.5 s"),
        (999_999, "999999 us"),
        (60_000_000, "1 min"),
        (0, "0 us"),
    ],
)
def test_measured_durations_beyond_a_second_are_told_in_seconds(duration: int, text: str) -> None:
    assert format_distance(duration) == text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("5 minutess", "did you mean 'minutes'?"),
        ("5 houres", "did you mean 'hours'?"),
        ("min", "expected a duration"),
        ("-5 min", "expected a duration"),
        ("1e3 s", "expected a duration"),
        ("1.5 us", "exact in microseconds"),
        (-1, "from 0 to 2**61"),
        ("9999999999999 weeks", "from 0 to 2**61"),
        (True, "found bool true"),
        (1.5, "found float 1.5"),
    ],
)
def test_wrong_durations_say_what_was_expected(written: str, message: str) -> None:
    with pytest.raises(EventError) as caught:
        parse_duration(written)
    assert message in str(caught.value)


@pytest.mark.parametrize("blank", [" ", "\t", "\x1f", "\u2003"])
def test_blanks_around_a_number_do_not_count(blank: str) -> None:
    assert parse_instant(f"{blank}12{blank}") == 12
    assert parse_duration(f"{blank}12 ms{blank}") == 12_000
