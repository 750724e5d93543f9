"""Times as a program has them become microseconds before they are sent, alike for one event and for a batch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from doubles.answering_kernel import AnsweringKernel

from broker.wire import Publish
from client import EventError, Notification
from client.calls import Calls, run
from client.change_calls import ChangeCalls
from client.session import Session

MOMENT = 1_714_548_600_000_000
NAIVE = datetime.fromisoformat("2024-05-01")
WHEN = datetime(2024, 5, 1, 7, 30, tzinfo=UTC)


class Line(AnsweringKernel):
    """A client's calls and the batches that a kernel gets of them."""

    def __init__(self, **stream: Any) -> None:
        super().__init__(Session(), now=2 * MOMENT)
        self.calls = Calls(self.session)
        run(self.calls.open(), self.exchange)
        run(self.calls.add_stream("S", {}, None, "arrival", None, None, **stream), self.exchange)

    @property
    def published(self) -> list[Publish]:
        return [each for each in self.heard if isinstance(each, Publish)]

    def publish(self, time: Any, start: Any = None) -> Publish:
        run(self.calls.publish("S", {}, time, None, start), self.exchange)
        return self.published[-1]

    def publish_batch(self, times: Any) -> Publish:
        run(self.calls.publish_batch("S", times, [()] * len(times), None, None), self.exchange)
        return self.published[-1]


@pytest.mark.parametrize(
    "time", [MOMENT, WHEN, WHEN.isoformat(), pd.Timestamp(WHEN), np.datetime64("2024-05-01T07:30")]
)
def test_one_event_and_a_batch_take_the_same_times(time: Any) -> None:
    line = Line()
    assert line.publish(time, time).times == (MOMENT,)
    assert line.published[-1].starts == (MOMENT,)
    assert line.publish_batch([time, time]).times == (MOMENT, MOMENT)


def test_columns_of_numpy_and_pandas() -> None:
    line = Line(time_unit="s")
    assert line.publish_batch(np.array([1, 2])).times == (1_000_000, 2_000_000)
    assert line.publish_batch(pd.Series(pd.to_datetime([WHEN, WHEN]), index=[5, 6])).times == (MOMENT, MOMENT)


def test_numbers_of_another_unit_are_refused_until_it_is_declared() -> None:
    line = Line()
    attempts: list[Callable[[int], object]] = [line.publish, lambda time: line.publish_batch([time])]
    for publish in attempts:
        with pytest.raises(EventError, match=r"stream 'S'.*in seconds: declare the unit with set_time_unit\('S', "):
            publish(MOMENT // 1_000_000)
    assert not line.published
    run(line.calls.set_time_unit("S", "s"), line.exchange)
    assert line.publish(MOMENT // 1_000_000).times == (MOMENT,)


def test_a_clock_that_starts_at_zero_may_come_to_any_number() -> None:
    line = Line()
    line.publish(0)
    assert line.publish(MOMENT // 1_000_000).times == (MOMENT // 1_000_000,)


def test_what_is_no_time_is_refused_before_anything_is_sent() -> None:
    line = Line()
    with pytest.raises(EventError, match="stream 'S': expected a datetime with a time zone"):
        line.publish(NAIVE)
    with pytest.raises(EventError, match="stream 'S', row 1: expected a datetime with a time zone"):
        line.publish_batch([WHEN, NAIVE])
    assert not line.published


def test_a_notification_has_its_times_as_datetimes() -> None:
    found = Notification({"kind": "match", "subscription": "q", "start": 0, "end": MOMENT})
    assert (found.start_time, found.end_time) == (datetime(1970, 1, 1, tzinfo=UTC), WHEN)
    assert Notification({"kind": "forecast", "subscription": "q"}).end_time is None


def test_a_promise_takes_a_datetime() -> None:
    line = Line()
    run(ChangeCalls(line.session).punctuate(WHEN, None, None), line.exchange)
    with pytest.raises(EventError, match="expected a datetime with a time zone"):
        run(ChangeCalls(line.session).punctuate(NAIVE, None, None), line.exchange)
