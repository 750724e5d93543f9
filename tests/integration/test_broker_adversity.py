"""Bad input, garbage, ports in use, brokers that end: a typed error or one line, and everybody else goes on."""

from __future__ import annotations

import random
import signal
import socket
import time
from functools import partial
from pathlib import Path

import msgpack
import pytest
import zmq
from doubles.broker_process import PATIENCE_SECONDS, broker_process, spawn_broker
from doubles.process_gauges import comes_true, growth_of_repeated, open_files

from broker.wire import (
    FRAME_BYTES_MAX,
    VERSION,
    AddStream,
    Failure,
    Hello,
    Ping,
    Pong,
    Publish,
    Subscribe,
    Welcome,
    decode,
    encode,
)
from client import (
    Client,
    ConnectionLost,
    DefinitionError,
    EventError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    QueryError,
    RequestTimeout,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
)

STOCK = {"name": "string", "price": "float", "volume": "int"}


def test_connections_are_read_by_as_many_threads_as_the_configuration_says() -> None:
    with broker_process("io_threads = 3") as broker, Client(broker.address) as client:
        client.ping()
        names = [(task / "comm").read_text() for task in Path(f"/proc/{broker.process.pid}/task").iterdir()]
        assert sum(name.startswith("ZMQbg/IO/") for name in names) == 3


def test_errors_are_typed_and_the_connection_goes_on() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("Stock", STOCK, key="name")
        client.publish("Stock", {"name": "IBM", "price": 1, "volume": 1}, time=10)

        def refused(kind: type[ForetellError], text: str, call: object) -> ForetellError:
            assert callable(call)
            with pytest.raises(kind, match=text) as caught:
                call()
            assert type(caught.value) is kind
            assert "\n" not in str(caught.value)
            client.ping()
            return caught.value

        def query(text: str) -> object:
            return lambda: client.subscribe("q", query=text)

        refused(
            EventError,
            "expected float, found string 'x'",
            lambda: client.publish("Stock", {**_ibm, "price": "x"}, time=11),
        )
        refused(EventError, "found string 'y'", lambda: client.publish_batch("Stock", [11], [("x", "y", 1)]))
        refused(LateEvent, "expected a time of 10 or later, found 9", lambda: client.publish("Stock", _ibm, time=9))
        refused(UnknownStream, "did you mean 'Stock'", lambda: client.publish("Stok", _ibm))
        refused(UnknownSubscription, "not known", lambda: client.subscribe("nothing"))
        refused(DefinitionError, "exists with other attributes", lambda: client.add_stream("Stock", {"x": "int"}))
        refused(DefinitionError, "subscription name", lambda: client.subscribe("a b", query="SELECT * FROM Stock"))
        pattern, forecast = "PATTERN SEQ(Stock a)", {"within": 1}
        predictive = partial(client.subscribe, "q", language="sase", query=pattern, forecast=forecast)
        refused(Unsupported, "not supported yet", predictive)
        refused(LimitExceeded, "Subscribe takes", query("x" * 10_000_000))
        refused(QueryError, "nesting", query("SELECT * FROM " + "(" * 10_000 + "Stock" + ")" * 10_000))
        error = refused(QueryError, "unknown attribute 'prise'", query("SELECT * FROM FILTER{prise > 1}(Stock)"))
        assert isinstance(error, QueryError)
        assert (error.line, error.column) == (1, 22)
        assert "prise" in error.excerpt
        with client.subscribe("q", query="SELECT * FROM Stock") as subscription:
            refused(DefinitionError, "has subscribed to it already", query("SELECT * FROM Stock"))
            client.publish("Stock", _ibm, time=11)
            assert subscription.next(60) is not None


_ibm = {"name": "IBM", "price": 2.0, "volume": 1}


def test_a_batch_of_any_size_is_taken_whole() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "string"})
        rows = [("x" * 1_000,)] * 20_000
        assert client.publish_batch("S", range(20_000), rows).count == 20_000
        assert client.publish_batch("S", None, []).count == 0


def test_garbage_neither_stops_the_broker_nor_stays_in_it() -> None:
    chance = random.Random(11)
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        host, port = broker.address.removeprefix("tcp://").rsplit(":", 1)
        context = zmq.Context()

        def attack(times: int) -> None:
            for _ in range(times):
                with socket.create_connection((host, int(port))) as raw:
                    beginning = chance.choice([b"", b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL", b"GET / HTTP/1.1\r\n\r\n"])
                    raw.sendall(beginning + chance.randbytes(chance.randrange(300)))
            for _ in range(times // 4):
                dealer = context.socket(zmq.DEALER)
                dealer.linger = PATIENCE_SECONDS * 1_000
                dealer.rcvtimeo = PATIENCE_SECONDS * 1_000
                dealer.connect(broker.address)
                for _ in range(10):
                    dealer.send_multipart([chance.randbytes(chance.randrange(100))] * chance.choice([1, 1, 2, 9]))
                    dealer.send(encode(Ping(chance.randrange(99))))
                assert isinstance(decode(dealer.recv()), Failure)  # it is there, and its last message comes, too
                dealer.send(bytes(FRAME_BYTES_MAX + 1))
                dealer.close()
            with Client(broker.address) as last:  # who comes last is let in last
                last.ping()

        process = broker.process.pid
        files = open_files(process)

        def attack_and_leave() -> None:
            attack(200)
            assert comes_true(lambda: open_files(process) <= files), "a connection that says nothing useful is closed"

        grown = growth_of_repeated(attack_and_leave, process, enough=1_000)
        context.term()
        assert grown[-1] <= 1_000, grown
        assert client.publish("S", {"x": 1}).count == 1


def test_garbage_from_a_session_is_answered() -> None:
    with broker_process() as broker, zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.connect(broker.address)

        def answer(frame: bytes) -> object:
            dealer.send(frame)
            assert dealer.poll(PATIENCE_SECONDS * 1_000), "no answer"
            return decode(dealer.recv())

        unknown = answer(encode(Ping(3)))
        assert isinstance(unknown, Failure)
        assert (unknown.correlation, unknown.code) == (3, "session")
        other = answer(msgpack.packb([1, 4, 99, "a later one"]))
        assert isinstance(other, Failure)
        assert other.code == "version"
        assert isinstance(answer(encode(Hello(5, VERSION, "test"))), Welcome)
        for garbage in (b"", b"\xc1", msgpack.packb([99, 6]), msgpack.packb([3, 6, "more"]), b"\x91" * 1_000):
            refused = answer(garbage)
            assert isinstance(refused, Failure)
            assert refused.code == "protocol"
        dealer.send_multipart([b"two", b"frames"])
        assert isinstance(decode(dealer.recv()), Failure)
        assert answer(encode(Ping(7))) == Pong(7)


def test_a_port_in_use_is_one_line_and_status_2() -> None:
    with broker_process() as broker:
        second = spawn_broker(f'address = "{broker.address}"')
        out, complaint = second.communicate(timeout=60)
        assert second.returncode == 2
        assert out == ""
        assert complaint == f"address {broker.address}: the port is in use already\n"


def test_a_wrong_or_missing_subscription_file_is_one_line_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[streams.S]\natributes = { x = "int" }\n')
    for name, reason in (("missing.toml", "No such file"), ("bad.toml", "unknown key")):
        process = spawn_broker(f'subscriptions = "{name}"', str(tmp_path / "foretell.toml"))
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 2
        assert reason in complaint
        assert complaint.startswith(str(tmp_path / name))
        assert complaint.count("\n") == 1


def test_a_second_signal_ends_at_once() -> None:
    """One that asks for nothing and one that reads nothing would hold the end up for a minute and more."""
    with broker_process("drain = '60 s'") as broker, zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.rcvhwm = 1
        dealer.connect(broker.address)
        dealer.send(encode(Hello(1, VERSION, "greedy")))
        dealer.send(encode(AddStream(2, "S", {"x": "string"}, None, "arrival", None, None)))
        dealer.send(encode(Subscribe(3, "all", "cayuga", "SELECT * FROM S", None, None, None, 1_000_000)))
        dealer.rcvtimeo = PATIENCE_SECONDS * 1_000
        for _ in range(3):
            dealer.recv()  # its answers, so that the broker knows it before others come; from here on it reads nothing
        with Client(broker.address) as client:
            client.subscribe("all", window=1)
            client.publish_batch("S", range(30_000), [("x" * 1_000,)] * 30_000)
            broker.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            assert broker.process.poll() is None, "it has something to deliver"
            broker.process.send_signal(signal.SIGTERM)
            assert broker.process.wait(PATIENCE_SECONDS) == 0


def test_no_broker_is_an_error_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(ConnectionLost, match=f"no broker answers at {address}"):
            Client(address, timeout=0.5)
        assert time.monotonic() - started < PATIENCE_SECONDS
    with pytest.raises(ConnectionLost, match="expected the address of a broker"):
        Client("nonsense")


def test_a_broker_that_was_killed_and_started_anew_is_another_session() -> None:
    with broker_process() as broker:
        client = Client(broker.address)
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", query="SELECT * FROM S")
        broker.process.kill()
        broker.process.wait()
        with broker_process(f'address = "{broker.address}"'):
            with pytest.raises((ConnectionLost, RequestTimeout)):
                client.ping()
            with pytest.raises(ConnectionLost, match="connect again"):
                subscription.next(60)
            client.close()
            with Client(broker.address) as again:
                assert again.streams() == []


def test_a_client_is_not_used_after_it_was_closed() -> None:
    with broker_process() as broker:
        with Client(broker.address) as client:
            client.ping()
        with pytest.raises(ConnectionLost, match="closed"):
            client.ping()
        client.close()


def test_a_stranger_may_not_speak_before_hello() -> None:
    with broker_process() as broker, zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
        dealer.linger = 0
        dealer.connect(broker.address)
        dealer.send(encode(AddStream(1, "S", {"x": "int"}, None, "arrival", None, None)))
        dealer.send(encode(Publish(2, "S", (1,), ((1,),), None, None)))
        for correlation in (1, 2):
            answer = decode(dealer.recv())
            assert isinstance(answer, Failure)
            assert (answer.correlation, answer.code) == (correlation, "session")
        with Client(broker.address) as client:
            assert client.streams() == []
