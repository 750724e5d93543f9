"""Contexts as they are written, and their values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events.errors import DefinitionError
from broker.events.schema import Schema
from broker.forecast.contexts import MISSING, ContextDefinition, month, read_context

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = Schema.declare({"station": "string", "temp": "float?", "rank": "int", "wet": "bool", "note": "string?"})


def at(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@given(st.datetimes(timezones=st.just(UTC)))
def test_units_of_time_are_those_of_the_calendar(instant: datetime) -> None:
    time = (instant - EPOCH) // timedelta(microseconds=1)
    definition = read_context(["month", "hour", "weekday"], SCHEMA, None)
    assert definition.of((), time) == (instant.month, instant.hour, instant.weekday())


@given(st.integers(-(2**61), 2**61))
def test_months_exist_at_any_distance(time: int) -> None:
    assert 1 <= month(time) <= 12
    assert month(time) == month(time + 146_097 * 86_400_000_000)


def test_a_context_is_read_off_a_row() -> None:
    written = ["month", "rank", "wet", "note", "key"]
    definition = read_context(written, SCHEMA, "station")
    assert definition.keyed
    time = at("2026-07-31T23:59:59+00:00")
    assert definition.of(("PHX", 10.5, 7, True, "x"), time) == ("PHX", 7, 7, 1, "x")
    assert definition.of(("PHX", None, 7, False, None), time) == ("PHX", 7, 7, 0, MISSING)
    assert read_context(["key"], SCHEMA, "temp").of(("PHX", -3.0, 7, False, "y"), time) == ("-3.0",)
    assert ContextDefinition().of((), 0) == ()
    assert not read_context([], SCHEMA, None).keyed


def test_an_attribute_that_is_called_like_a_unit_is_meant() -> None:
    schema = Schema.declare({"month": "string"})
    assert read_context(["month"], schema, None).of(("May",), 0) == ("May",)


UNKNOWN = 'context: expected "key", "month", "hour", "weekday" or the name of an attribute, found '
BANDS = "; for a band of numbers give events an attribute that names it"
REFUSED = [
    ("month", "context: expected a list of at most 8 parts, found string 'month'"),
    (["month"] * 9, "context: expected a list of at most 8 parts, found a list"),
    (["month", "month"], "context: expected each part once, found 'month' twice"),
    (["key"], "context: 'key' expects a stream that declares one"),
    (["mnth"], "context: expected key, month, hour, weekday or an attribute, found 'mnth'; did you mean 'month'?"),
    (
        ["temp"],
        "context: expected an attribute that is a string, an int or a bool, found 'temp', a float; give events an"
        " attribute that names its band",
    ),
    ([3], UNKNOWN + "int 3"),
    ([{"attribute": "rank", "cuts": [1]}], UNKNOWN + "attribute, cuts" + BANDS),
    ([{"last": 2}], UNKNOWN + "last" + BANDS),
]


@pytest.mark.parametrize(("written", "message"), REFUSED)
def test_a_wrong_context_is_refused(written: object, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_context(written, SCHEMA, None)
    assert str(caught.value) == message
