"""Contexts as they are written, their values, and the choice between models."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.events.errors import DefinitionError
from broker.events.schema import Schema
from broker.forecast.choice import MILLIONTHS, SURPRISE_MAX, Choice, surprise
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
    written = ["month", {"attribute": "temp", "cuts": [0, 10.5]}, "rank", "wet", "note", {"last": 3}, "key"]
    definition = read_context(written, SCHEMA, "station")
    assert definition.keyed
    assert definition.symbols == 3
    time = at("2026-07-31T23:59:59+00:00")
    assert definition.of(("PHX", 10.5, 7, True, "x"), time, [4, 5]) == ("PHX", 7, 2, 7, 1, "x", MISSING, 4, 5)
    assert definition.of(("PHX", None, 7, False, None), time, [1, 2, 3, 4]) == ("PHX", 7, -1, 7, 0, -1, 2, 3, 4)
    assert definition.of(("PHX", -3.0, 7, False, "y"), time)[2] == 0
    assert ContextDefinition().of((), 0) == ()
    assert not read_context([], SCHEMA, None).keyed


def test_an_attribute_that_is_called_like_a_unit_is_meant() -> None:
    schema = Schema.declare({"month": "string"})
    assert read_context(["month"], schema, None).of(("May",), 0) == ("May",)


NAN = float("nan")
REFUSED = [
    ("month", "context: expected a list of at most 8 parts, found string 'month'"),
    (["month"] * 9, "context: expected a list of at most 8 parts, found a list"),
    (["month", "month"], "context: expected each part once, found 'month' twice"),
    (["key"], "context: 'key' expects a stream that declares one"),
    (["mnth"], "context: expected key, month, hour, weekday or an attribute, found 'mnth'; did you mean 'month'?"),
    (["temp"], "context: the float attribute 'temp' expects cuts: {attribute = .., cuts = [..]}"),
    ([{"attribute": "note", "cuts": [1]}], "context: cuts expect an int or float attribute, found 'note', a string"),
    ([{"attribute": "rank", "cuts": [2, 1]}], "context: cuts: expected 1 to 100 ascending numbers, found [2, 1]"),
    ([{"attribute": "rank", "cuts": []}], "context: cuts: expected 1 to 100 ascending numbers, found []"),
    ([{"attribute": "rank", "cuts": [True]}], "context: cuts: expected 1 to 100 ascending numbers, found [True]"),
    ([{"attribute": "rank", "cuts": [NAN]}], "context: cuts: expected 1 to 100 ascending numbers, found [nan]"),
    (
        [{"last": 0}],
        'context: expected "key", "month", "hour", "weekday", an attribute, {attribute = .., cuts = [..]} or '
        "{last = 1 .. 6}, found last",
    ),
]


@pytest.mark.parametrize(("written", "message"), REFUSED)
def test_a_wrong_context_is_refused(written: object, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_context(written, SCHEMA, None)
    assert str(caught.value) == message


def test_surprise_is_a_bounded_loss() -> None:
    assert surprise(1.0) == 0
    assert surprise(0.5) == round(log(2) * 1e6)
    assert surprise(0.0) == surprise(-1.0) == SURPRISE_MAX


def test_the_simplest_of_the_good_is_chosen() -> None:
    choice = Choice(3, margin=2.0)
    assert choice.best() == 0
    choice.score([0.5, 0.5, 0.9])
    assert choice.best() == 0  # not worth it yet
    choice.score([0.5, 0.5, 0.9], times=10)
    assert choice.best() == 2
    mean = [loss / choice.steps / MILLIONTHS for loss in choice.losses]
    assert mean == pytest.approx([log(2), log(2), -log(0.9)], abs=1e-6)
    chance = random.Random(3)
    noise = Choice(2)
    for _ in range(1000):  # the first is right
        came = chance.random() < 0.3
        noise.score([0.3 if came else 0.7, 0.5])
    assert noise.best() == 0
