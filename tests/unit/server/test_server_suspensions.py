"""A mistake of the engine in a broker: who meets it is told, the log has it, the others and the journal go on."""

from __future__ import annotations

import logging
import time

import pytest
from doubles.running_broker import running

from broker.algebra.functions import FUNCTIONS, ScalarFunction
from broker.engine import Engine
from broker.engine.subscribing.suspensions import suspended
from broker.kernel import Record
from broker.kernel.records import BatchTaken, StreamDeclared, SubscriptionAdded
from broker.server import Broker
from broker.server.logs import LOG, log_failures
from broker.server.replicated_state import ReplicatedState
from client import Client, Notification, Subscription

PATIENCE = 60
BAD = "SELECT * FROM S NEXT{$2.k = $1.k AND sqrt($2.v) > 0} S"
GOOD = "SELECT * FROM S NEXT{$2.k = $1.k} S"


def following(subscription: Subscription) -> Notification:
    found = subscription.next(PATIENCE)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(x: float) -> float:
        if x == 13:
            raise ZeroDivisionError("a mistake")
        return x

    monkeypatch.setitem(FUNCTIONS, "sqrt", ScalarFunction(("number",), "float", compute))


def test_the_broker_goes_on_and_its_log_has_the_reference_that_is_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOG, "propagate", True)  # whatever log another test has opened
    with (
        running(Broker(Engine(), "tcp://127.0.0.1:0")) as broker, Client(broker.endpoint, timeout=PATIENCE) as client,
        Client(broker.endpoint, timeout=PATIENCE) as other,
    ):
        client.add_stream("S", {"k": "int", "v": "int"})
        bad = client.subscribe("bad", query=BAD)
        good = other.subscribe("good", query=GOOD)
        receipt = other.publish_batch("S", [1, 2, 3, 4], [(0, 1), (0, 2), (0, 13), (0, 4)])
        assert receipt.count == 4
        assert [following(good).end for _ in range(3)] == [2, 3, 4]
        assert following(bad).end == 2
        told = following(bad)
        assert (told.kind, told.limit, told.since) == ("incomplete", "failure", 3)
        assert told.line()["suspended"] is True
        assert other.statistics()["engine"]["suspended"] == 1
        deadline = time.monotonic() + PATIENCE
        while "suspended by a mistake" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.05)
        client.unsubscribe("bad")
        assert other.publish("S", {"k": 0, "v": 5}, time=5).count == 1
        assert following(good).end == 5
    # Another test of this process may have left the logger with a second way here: records count, not lines.
    (record,) = {id(each): each for each in caplog.records if "suspended by a mistake" in each.getMessage()}.values()
    assert record.levelno == logging.ERROR
    assert record.__dict__["fields"] == {"subscription": "bad", "reference": told.id}
    assert "ZeroDivisionError: a mistake" in caplog.text


def test_the_log_has_each_mistake_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOG, "propagate", True)
    failures = [("q", "0123", ValueError("a mistake"))]
    log_failures(failures)
    log_failures(failures)
    assert len({id(each) for each in caplog.records if "suspended by a mistake" in each.getMessage()}) == 1


def test_a_replay_decides_the_same_from_any_point_on() -> None:
    records: list[Record] = [
        StreamDeclared("S", {"k": "int", "v": "int"}, None, "arrival", None, None),
        SubscriptionAdded("bad", "cayuga", BAD, None, None, None, {}),
        SubscriptionAdded("good", "cayuga", GOOD, None, None, None, {}),
        BatchTaken("S", [1, 2], [(0, 1), (0, 13)], [1, 2]),
        BatchTaken("S", [3], [(0, 13)], [3]),
        BatchTaken("S", [4, 5], [(0, 4), (1, 4)], [4, 5]),
    ]
    whole = ReplicatedState()
    for position, record in enumerate(records):
        whole.replay(position, 0, record)
    assert suspended(whole.engine.catalog, whole.engine.program) == {"bad": ("failure", 2)}
    for cut in range(len(records)):
        history = ReplicatedState()
        for position, record in enumerate(records):
            history.replay(position, 0, record)
            if position == cut:
                saved = history.save()
                history = ReplicatedState()
                history.restore(saved)
        assert history.digest() == whole.digest()
