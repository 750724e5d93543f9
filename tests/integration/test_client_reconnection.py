"""A broker that goes away and comes back: clients find it again by themselves, and say what they may have missed."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from doubles.broker_process import broker_process, python_process
from doubles.cut_line import CutLine

from client import (
    Client,
    ConnectionLost,
    FlowEvent,
    Happening,
    Reconnect,
    Retry,
    UnknownSubscription,
    advice,
    contexts,
)

QUICK = Reconnect(first=0.05, greatest=0.3)


def happenings(told: list[FlowEvent]) -> list[Happening]:
    """Without repetition: how often it was tried is a matter of the machine."""
    found: list[Happening] = []
    for event in told:
        if not found or found[-1] is not event.happening:
            found.append(event.happening)
    return found


def test_subscriptions_go_on_after_a_restart_and_the_gap_is_told() -> None:
    told: list[FlowEvent] = []
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=QUICK, on_event=told.append)
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="SELECT * FROM S", window=2)
        client.publish_batch("S", [1, 2], [(1,), (2,)])  # a third could come or not before the broker is killed
        assert subscription.next(60) is not None
        broker.process.kill()
        broker.process.wait()
        client._connection._timeout = 0.3
        with pytest.raises(ConnectionLost):
            client.ping()
        with broker_process(f'address = "{broker.address}"'):
            client._connection._timeout = 60
            client.ping()
            assert [stream.name for stream in client.streams()] == ["S"], "it was declared again"
            read = [subscription.next(60), subscription.next(60)]
            assert [each and (each.kind, each.end, each.limit) for each in read] == [
                ("match", 2, None),
                ("incomplete", None, "connection"),
            ]
            for time_ in range(10, 30):
                client.publish("S", {"x": time_}, time=time_)
                notification = subscription.next(60)
                assert notification is not None
                assert notification.end == time_
            client.close()
    assert happenings(told) == [Happening.LOST, Happening.WAITING, Happening.RESTORED, Happening.GAP]
    assert told[0].reason
    assert told[1].attempt == 1


def test_a_reader_that_waits_finds_the_broker_again_by_itself() -> None:
    ends: list[int | None] = []
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=QUICK)
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="SELECT * FROM S")
        broker.process.kill()
        broker.process.wait()

        def publish() -> None:
            time.sleep(1)
            with broker_process(f'address = "{broker.address}"'):
                while len(ends) < 2:
                    with Client(broker.address) as other:
                        if other.streams():
                            other.publish("S", {"x": 1})
                    time.sleep(0.1)

        thread = threading.Thread(target=publish)
        thread.start()
        while len(ends) < 2:
            notification = subscription.next()
            assert notification is not None
            ends.append(notification.end)
        thread.join(60)
        began = time.monotonic()
        client.close()
        assert time.monotonic() - began < 30, "a client that has no session ends without one"
    assert ends[0] is None, "the gap comes first"


def test_a_program_that_only_polls_comes_back_too() -> None:
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=QUICK)
        client.add_stream("S", {})
        subscription = client.subscribe("all", query="SELECT * FROM S")
        broker.process.kill()
        broker.process.wait()
        with broker_process(f'address = "{broker.address}"'):
            deadline = time.monotonic() + 60
            longest = 0.0
            while time.monotonic() < deadline:
                began = time.monotonic()
                found = subscription.poll()
                longest = max(longest, time.monotonic() - began)
                if found is not None:
                    break
                time.sleep(0.01)
            assert found is not None
            assert found.limit == "connection"
            assert longest < 30, "polling does not wait for the broker"
            client.close()


def test_what_the_new_broker_refuses_ends_that_subscription_only() -> None:
    told: list[FlowEvent] = []
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=QUICK, on_event=told.append)
        with Client(broker.address) as other:
            other.add_stream("T", {"x": "int"})
            kept = other.subscribe("theirs", query="SELECT * FROM T")
            client.add_stream("S", {"x": "int"})
            mine, theirs = client.subscribe("mine", query="SELECT * FROM S"), client.subscribe("theirs")
            assert kept.attached is False
            broker.process.kill()
            broker.process.wait()
        with broker_process(f'address = "{broker.address}"'):
            client.ping()
            with pytest.raises(UnknownSubscription):
                theirs.next(60)
            client.publish("S", {"x": 1}, time=1)
            read = [mine.next(60), mine.next(60)]
            assert [each and each.kind for each in read] == ["incomplete", "match"]
            client.close()
    assert [event.name for event in told if event.happening is Happening.REFUSED] == ["theirs"]


def test_after_the_last_attempt_the_loss_is_final() -> None:
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=Reconnect(0.01, 0.02, attempts=3))
        broker.process.kill()
        broker.process.wait()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with pytest.raises(ConnectionLost) as caught:
                client.ping()
            if "no broker answers" in str(caught.value):
                break
        assert advice(caught.value).retry is Retry.SAFE
        client.close()


def test_a_line_that_is_cut_loses_nothing_and_repeats_nothing() -> None:
    """The broker is still there, and so is the session: what was on the way comes again, and there is no gap."""
    told: list[FlowEvent] = []
    with broker_process() as broker, CutLine(broker.address) as line, Client(broker.address) as publisher:
        publisher.add_stream("S", {"x": "int"})
        client = Client(line.address, timeout=60, reconnect=QUICK, on_event=told.append)
        subscription = client.subscribe("all", query="SELECT * FROM S", window=64)
        ends: list[int | None] = []
        for first in range(0, 2_000, 100):
            publisher.publish_batch("S", range(first, first + 100), [(1,)] * 100)
            while len(ends) < first + 50:
                notification = subscription.next(60)
                assert notification is not None
                ends.append(notification.end)
            if first % 400 == 0:
                line.cut()
        while len(ends) < 2_000:
            notification = subscription.next(60)
            assert notification is not None
            ends.append(notification.end)
        assert ends == list(range(2_000))
        assert subscription.poll() is None
        resumed = publisher.statistics()["broker"]["sessions_resumed"]
        client.close()
    assert resumed >= 3
    assert Happening.GAP not in happenings(told)


_FORK = """
    import os, sys
    from client import Client, ConnectionLost
    with Client(sys.argv[1], timeout=60) as client:
        child = os.fork()
        if child == 0:
            try:
                client.ping()
            except ConnectionLost as error:
                print(f"the child: {error}", flush=True)
            with Client(sys.argv[1], timeout=60) as own:
                own.ping()
            client.close()
            print("the child has its own", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        client.ping()
        print("the parent goes on", flush=True)
"""


def test_a_fork_has_no_part_in_its_parents_client_and_may_open_one() -> None:
    with broker_process() as broker, python_process(_FORK, broker.address) as process:
        told, errors = process.communicate(timeout=60)
        assert [line.split(":")[0] for line in told.splitlines()] == [
            "the child",
            "the child has its own",
            "the parent goes on",
        ], errors


def test_without_a_socket_for_a_connection_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[FlowEvent] = []
    with broker_process() as broker:
        client = Client(broker.address, timeout=60, reconnect=QUICK, on_event=told.append)
        broker.process.kill()
        broker.process.wait()
        with broker_process(f'address = "{broker.address}"'):
            monkeypatch.setattr(contexts, "SOCKETS_MAX", 2)
            deadline = time.monotonic() + 60
            while not any("cannot open a socket" in event.reason for event in told):
                assert time.monotonic() < deadline
                client._connection._timeout = 0.1
                with suppress(ConnectionLost):
                    client.ping()
            monkeypatch.undo()
            client._connection._timeout = 60
            client.ping()
            client.close()
    assert happenings(told)[-1] is Happening.RESTORED


def test_an_acknowledgement_survives_a_restart_that_takes_seconds(tmp_path: Path) -> None:
    """With the default waits and the default timeout. Without its repetition the result would come again."""
    journal = f'[journal]\npath = "{tmp_path}/kept"\n'
    with broker_process(journal) as broker:
        client = Client(broker.address, reconnect=Reconnect(), timeout=60)
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="SELECT * FROM S", durable="mine")
        client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
        read = [subscription.next(60) for _ in range(3)]
        broker.process.kill()
        broker.process.wait()
        back: list[float] = []

        def restart() -> None:
            time.sleep(3)
            with broker_process(f'address = "{broker.address}"\n{journal}'):
                back.append(time.monotonic())
                done.wait(120)

        done = threading.Event()
        thread = threading.Thread(target=restart)
        thread.start()
        assert read[0] is not None
        assert read[2] is not None
        read[0].acknowledge_later()
        read[2].acknowledge()
        waited = time.monotonic() - back[0]
        client.publish("S", {"x": 4}, time=4)
        fourth = subscription.next(60)
        assert fourth is not None
        fourth.acknowledge_later()
        client.close()
        with Client(broker.address, timeout=60) as other:
            kept = other.subscribe("all", durable="mine")
            assert kept.poll() is None, "what was acknowledged later was sent before the client left"
            assert other.publish("S", {"x": 5}, time=5).count == 1
            fifth = kept.next(60)
        done.set()
        thread.join()
    assert fifth is not None
    assert (fifth.position, fifth.end) == (5, 5)
    assert waited < 10, "the greatest wait is a fraction of a call's timeout"
