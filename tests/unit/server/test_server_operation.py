"""What an operator looks at while a broker runs: durations, metrics, health; how it is told to stop or to reload."""

from __future__ import annotations

import signal
import socket
import time
import urllib.error
import urllib.request
from collections import deque
from contextlib import ExitStack

import pytest
from doubles.running_broker import running
from doubles.served_console import served
from doubles.small_engine import SmallEngine
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from broker.engine import Engine
from broker.events import DefinitionError
from broker.kernel import Access, Limits, open_access
from broker.server import Broker
from broker.server.console_connections import CONNECTIONS_MAX
from broker.server.durations import BOUNDS_MICROSECONDS, Durations
from broker.server.loop_wakeup import LoopRequest, LoopWakeup
from broker.server.metrics import exposition
from client import Busy, Client, ConnectionLost, LimitExceeded


@given(st.lists(st.integers(0, 20_000_000), min_size=1), st.sampled_from([0.5, 0.99, 1.0]))
def test_a_quantile_is_an_upper_bound_and_not_a_bucket_too_large(values: list[int], share: float) -> None:
    durations = Durations()
    for value in values:
        durations.add(value)
    bound = durations.quantile(share)
    ordered = sorted(values)
    exact = ordered[max(0, -(-len(values) * int(share * 100) // 100) - 1)]
    assert exact <= bound <= max(values)
    assert bound in (*BOUNDS_MICROSECONDS, max(values))
    assert sum(durations.buckets().values()) == len(values)


def test_nothing_took_no_time() -> None:
    assert Durations().quantile(0.99) == 0


def test_requests_are_told_apart_and_never_block() -> None:
    wake = LoopWakeup()
    assert wake.take() == []
    for request in (LoopRequest.REPORT, LoopRequest.RELOAD, LoopRequest.STOP):
        wake.ask(request)
    wake.writer.send(bytes((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)))
    stop, reload = LoopRequest.STOP, LoopRequest.RELOAD
    assert wake.take() == [LoopRequest.REPORT, reload, stop, stop, reload, stop]
    for _ in range(10_000):
        wake.ask(LoopRequest.REPORT)
    wake.close()


def test_what_only_grows_is_a_counter_and_the_histogram_adds_up() -> None:
    durations = Durations()
    for value in (50, 120, 120, 99_000_000):
        durations.add(value)
    text = exposition(
        {
            "broker": {"events": 7, "sessions": 2, "words": "no number"},
            "loop": {"uptime_seconds": 3, **durations.statistics()},
            "publish_microseconds": durations.buckets(),
        }
    ).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["foretell_broker_events"].type == "counter"
    assert families["foretell_broker_sessions"].type == "gauge"
    assert "foretell_broker_words" not in families
    histogram = {
        (sample.name.rpartition("_")[2], sample.labels.get("le")): sample.value
        for sample in families["foretell_publish_seconds"].samples
    }
    assert histogram["bucket", "0.0001"] == 1
    assert histogram["bucket", "0.00025"] == 3
    assert histogram["bucket", "10.0"] == 3
    assert histogram["bucket", "+Inf"] == histogram["count", None] == 4


def asked(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_metrics_and_health_of_a_broker_that_runs(host: str) -> None:
    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0", drain_seconds=30)
    with running(broker), Client(broker.endpoint) as client, served(broker, f"http://{host}:0") as address:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="every S", window=1)
        client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
        status, text = asked(f"{address}/metrics")
        assert status == 200
        assert "\nforetell_broker_events_total 3.0\n" in text
        assert "\nforetell_publish_seconds_count 1.0\n" in text
        assert asked(f"{address}/livez")[0] == 200
        assert asked(f"{address}/readyz") == (200, "ready\n")
        assert asked(f"{address}/metrics", Host="evil.example")[0] == 400
        assert asked(f"{address}/secrets")[0] == 404
        broker.stop()
        until = time.monotonic() + 60
        while asked(f"{address}/readyz")[0] == 200 and time.monotonic() < until:
            time.sleep(0.01)
        assert asked(f"{address}/readyz") == (503, "stopping\n")
        with pytest.raises(Busy, match="accepts nothing new"):
            client.publish("S", {"x": 4}, time=4)
        assert [each and each.end for each in (subscription.next(60) for _ in range(3))] == [1, 2, 3]
        with pytest.raises(ConnectionLost, match="the broker is stopping"):
            subscription.next(60)


def test_half_requests_do_not_keep_others_from_asking() -> None:
    """As many as there may be, and again; heads without an end, bodies that never come, nothing at all."""
    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0")
    halves = (b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"GET /read", b"")
    with running(broker), served(broker, "http://127.0.0.1:0") as address, ExitStack() as stack:
        place = "127.0.0.1", int(address.rpartition(":")[2])
        held = []
        for number in range(2 * CONNECTIONS_MAX + 3):
            one = stack.enter_context(socket.create_connection(place))
            one.sendall(halves[number % len(halves)])
            held.append(one)
            if number % CONNECTIONS_MAX == CONNECTIONS_MAX - 1:
                assert asked(f"{address}/readyz") == (200, "ready\n")
        assert asked(f"{address}/livez")[0] == 200
        held[0].settimeout(60)
        assert ended(held[0]), "the oldest gave way"


def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_connections.CONNECTION_SECONDS_MAX", 0.05)
    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0")
    with running(broker), served(broker, "http://127.0.0.1:0") as address:
        place = "127.0.0.1", int(address.rpartition(":")[2])
        with socket.create_connection(place, timeout=60) as half:
            half.sendall(b"GET /readyz HTTP/1.1\r\n")
            assert ended(half)


def test_looks_are_followed_longer_and_yet_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_connections.CONNECTION_SECONDS_MAX", 0.2)
    monkeypatch.setattr("broker.server.console_connections.FOLLOWING_SECONDS_MAX", 3.0)
    broker = Broker(Engine(), "tcp://127.0.0.1:0")
    with running(broker), served(broker, "http://127.0.0.1:0") as address:
        place = "127.0.0.1", int(address.rpartition(":")[2])
        with socket.create_connection(place, timeout=60) as page, page.makefile("rb") as read:
            page.sendall(b"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            told = iter(read.readline, b"")
            assert any(line.startswith(b"data: ") for line in told), "a look comes after a second"
            deque(told, maxlen=0)  # ends with the connection


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_console_that_cannot_be_had_is_one_line() -> None:
    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0")
    with broker, served(broker, "http://127.0.0.1:0") as address:
        port = address.rpartition(":")[2]
        taken = served(broker, f"http://127.0.0.1:{port}")
        with pytest.raises(DefinitionError, match=r"console\.address .*: Address already in use"):
            taken.__enter__()


def test_a_broker_that_does_not_come_around_is_busy() -> None:
    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0")
    with broker, pytest.raises(TimeoutError):
        broker.report(0.05)


def test_a_reload_changes_limits_and_a_wrong_one_nothing() -> None:
    answers: list[tuple[Limits, Access]] = [(Limits(sessions=1), open_access())]

    def reload() -> tuple[Limits, Access]:
        if not answers:
            raise DefinitionError("the file is wrong")
        return answers.pop()

    broker = Broker(SmallEngine(), "tcp://127.0.0.1:0", reload=reload)
    with running(broker), Client(broker.endpoint) as client:
        for _ in range(2):
            broker.wakeup.ask(LoopRequest.RELOAD)
            client.ping()
            with pytest.raises(LimitExceeded, match="sessions: this broker accepts at most 1 clients"):
                Client(broker.endpoint)
