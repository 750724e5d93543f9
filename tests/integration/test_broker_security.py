"""Every way in that must be shut, tried on a broker process: each is refused with a reason, and the others go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgpack
import pytest
import zmq
from doubles.broker_process import BrokerProcess, broker_process, spawn_broker
from doubles.cut_line import CutLine
from zmq.utils.monitor import recv_monitor_message

from broker.wire import FRAME_BYTES_MAX, VERSION, Failure, Hello, Ping, Pong, Statistics, Welcome, decode, encode
from broker.wire.keys import Keys, written_keys
from client import (
    Busy,
    Client,
    ConnectionLost,
    DefinitionError,
    ForetellError,
    LimitExceeded,
    PermissionDenied,
)


def pair(server: str | None = None) -> Keys:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    return Keys(public, secret, server)


class Site:
    """A folder with a broker's keys and three users: ann for Stock, ben with a small quota, ops who administrates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        broker = pair()
        path = folder / "broker.keys"
        path.touch(0o600)
        path.write_text(written_keys(broker, "the broker"))
        self.ann, self.ben, self.ops, self.stranger = (pair(broker.public) for _ in range(4))
        self.place = str(folder / "foretell.toml")
        self.ann_reads = '["Stock"]'

    @property
    def configuration(self) -> str:
        return f"""
address = "tcp://127.0.0.1:0"
drain = 0
log = {{ level = "info", format = "json" }}
[security]
keys = "broker.keys"
[users.ann]
keys = ["{self.ann.public}"]
publish = ["Stock"]
read = {self.ann_reads}
subscribe = ["ann.*"]
declare = ["Stock"]
[users.ben]
keys = ["{self.ben.public}"]
publish = ["*"]
read = ["*"]
subscribe = ["*"]
quota = {{ connections = 2, subscriptions = 1, states = 2, events_per_second = 10 }}
[users.ops]
keys = ["{self.ops.public}"]
admin = true
declare = ["*"]
"""

    @contextmanager
    def broker(self) -> Iterator[BrokerProcess]:
        with broker_process(self.configuration, self.place) as process:
            with Client(process.address, keys=self.ops) as ops:
                for stream in ("Stock", "Secret"):
                    ops.add_stream(stream, {"price": "int"})
            yield process


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_an_unknown_key_and_no_key_do_not_get_in(site: Site) -> None:
    with site.broker() as broker:
        with pytest.raises(PermissionDenied, match="does not know the key of this client"):
            Client(broker.address, keys=site.stranger)
        with pytest.raises(ConnectionLost, match="did not finish the handshake"):
            Client(broker.address, timeout=60)
        wrong = Keys(site.ann.public, site.ann.secret, site.stranger.public)
        with pytest.raises(ConnectionLost, match="did not finish the handshake"):
            Client(broker.address, timeout=60, keys=wrong)
        borrowed = Keys(site.ann.public, site.stranger.secret, site.ann.server)
        with pytest.raises((ConnectionLost, PermissionDenied)):
            Client(broker.address, timeout=60, keys=borrowed)
        with Client(broker.address, keys=site.ann) as ann:
            assert ann.publish("Stock", {"price": 1}).count == 1


def test_a_key_without_permission_is_refused_with_a_reason(site: Site) -> None:
    with site.broker() as broker, Client(broker.address, keys=site.ann) as ann:
        for refused, call in (
            ("no permission that concerns it", lambda: ann.publish("Secret", {"price": 1})),
            ("no permission to read", lambda: ann.subscribe("ann.x", query="SELECT * FROM Secret")),
            ("no permission to subscribe", lambda: ann.subscribe("x", query="SELECT * FROM Stock")),
            ("no permission to declare", lambda: ann.add_stream("Other", {})),
            ("is not an administrator", ann.statistics),
        ):
            with pytest.raises(PermissionDenied, match=refused):
                call()
        assert [stream.name for stream in ann.streams()] == ["Stock"]
        with ann.subscribe("ann.x", query="SELECT * FROM Stock") as subscription:
            ann.publish("Stock", {"price": 1}, time=1)
            assert subscription.next(60) is not None


@contextmanager
def dealer(address: str, keys: Keys, routing_id: bytes = b"") -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.curve_serverkey = (keys.server or "").encode()
        socket.curve_publickey = keys.public.encode()
        socket.curve_secretkey = keys.secret.encode()
        if routing_id:
            socket.routing_id = routing_id
        socket.rcvtimeo = 60_000
        socket.connect(address)
        yield socket


def test_a_forged_routing_id_gets_nothing_of_anybodys_session(site: Site) -> None:
    """Also the id of a session that is open: neither may ben speak for ann, nor be told what is hers."""
    with site.broker() as broker:
        with dealer(broker.address, site.ben, b"ann") as forger:
            forger.send(encode(Hello(1, VERSION, "forger")))
            answer = decode(forger.recv())
            assert answer == Failure(0, "protocol", "a client must not choose its routing id")
        # One that looks as if it had been assigned is of use only to who can guess which ones are.
        with dealer(broker.address, site.ben, b"\0guess") as guesser, dealer(broker.address, site.ann) as ann:
            guesser.send(encode(Ping(1)))
            refused = decode(guesser.recv())
            assert isinstance(refused, Failure)
            ann.send(encode(Hello(1, VERSION, "ann")))
            assert isinstance(decode(ann.recv()), Welcome)


def test_an_id_that_libzmq_may_still_assign_ends_its_connection(site: Site) -> None:
    """Whoever has it when its number comes ends the process, and it might stay for as long as it has a session."""
    events = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
    with site.broker() as broker, dealer(broker.address, site.ben, b"\0next") as guesser:
        with guesser.get_monitor_socket(events) as monitor:
            guesser.send(encode(Hello(1, VERSION, "guesser")))
            found = 0
            while found != zmq.EVENT_DISCONNECTED:
                assert monitor.poll(60_000)
                found = recv_monitor_message(monitor)["event"]
            guesser.disable_monitor()
        with Client(broker.address, keys=site.ops) as ops:
            assert ops.statistics()["broker"]["sessions"] == 1


def test_a_session_that_was_recorded_cannot_be_played_again(site: Site) -> None:
    """Every byte that ann has said, said again by somebody else: keys of a session are made new in each handshake."""
    with site.broker() as broker, Client(broker.address, keys=site.ops) as ops:
        with CutLine(broker.address) as line:
            with Client(line.address, keys=site.ann) as ann:
                ann.publish("Stock", {"price": 1}, time=1)
            line.wait()
            assert len(line.said) > 500
            assert b"Stock" not in line.said
            before = ops.statistics()["broker"]
            assert before["events"] == 1
            with line.connect() as replay:
                replay.settimeout(60)
                replay.sendall(line.said)
                with suppress(OSError):
                    while replay.recv(65_536):
                        pass  # until the broker closes it
        after = ops.statistics()["broker"]
        assert (after["events"], after["sessions"]) == (1, before["sessions"])


def test_routing_ids_begin_somewhere_else_each_time(site: Site) -> None:
    """Who can guess the next one can end the process, as libzmq asserts that nobody has it."""
    began = []
    for _ in range(2):
        with broker_process(site.configuration, site.place) as broker, Client(broker.address, keys=site.ann) as client:
            client.ping()
            broker.process.terminate()
            _, log = broker.process.communicate(timeout=60)
            began.append(json.loads(log.splitlines()[0])["session"])
    assert began[0] != began[1]


def test_oversized_and_deeply_nested_messages_are_refused(site: Site) -> None:
    with site.broker() as broker, Client(broker.address, keys=site.ann) as ann:
        with dealer(broker.address, site.ben) as ben:

            def answer(*frames: bytes) -> Failure:
                ben.send_multipart(frames)
                found = decode(ben.recv())
                assert isinstance(found, Failure)
                return found

            ben.send(encode(Hello(1, VERSION, "ben")))
            assert isinstance(decode(ben.recv()), Welcome)
            deep = b"\x91" * 2_000 + b"\xc0"
            within: object = 1
            for _ in range(40):
                within = [within]
            forecast = {"within": within}
            nils = (None,) * 12
            for frames, reason in (
                ((deep,), "not msgpack within the limits"),
                ((msgpack.packb([6, 2, "x", "cayuga", "q", None, None, forecast, 1, *nils]),), "nested at most 8 deep"),
                ((msgpack.packb([11, 3, "x" * 300]),), "a string of at most 256 characters"),
                ((msgpack.packb([5, 4, "Stock", None, [[1]] * 9_000, None, None]),), "not msgpack within the limits"),
                ((b"\xdd\xff\xff\xff\xff",), "not msgpack within the limits"),
                ((b"two", b"frames"), "expected a message of one frame, found 2"),
                ((b"x" * FRAME_BYTES_MAX,), "not msgpack within the limits"),
                ((b"x" * (FRAME_BYTES_MAX + 1),), "the frame has 1,048,577 bytes, expected at most 1,048,576"),
            ):
                refused = answer(*frames)
                assert refused.code == "protocol"
                assert reason in refused.message
            ben.send(encode(Ping(9)))
            assert decode(ben.recv()) == Pong(9)
            ben.send(bytes(FRAME_BYTES_MAX + 4_096))  # the connection is cut, and the session with it
            while not ben.poll(100):
                ben.send(encode(Ping(10)))
            lost = decode(ben.recv())
            assert isinstance(lost, Failure)
            assert lost.code == "session"
        with pytest.raises(LimitExceeded, match="Subscribe takes"):
            ann.subscribe("ann.x", query="x" * 2 * FRAME_BYTES_MAX)
        ann.ping()


def test_a_quota_that_is_exceeded_is_named_and_nobody_else_notices(site: Site) -> None:
    with site.broker() as broker, Client(broker.address, keys=site.ben) as ben:
        with Client(broker.address, keys=site.ben), pytest.raises(LimitExceeded, match="quota connections"):
            Client(broker.address, keys=site.ben)
        long = " NEXT{} ".join(["Stock"] * 9)
        with pytest.raises(LimitExceeded, match="quota states: user 'ben' may have 2"):
            ben.subscribe("long", query=f"SELECT * FROM {long}")
        ben.subscribe("one", query="SELECT * FROM Stock")
        with pytest.raises(LimitExceeded, match="quota subscriptions: user 'ben' may have 1"):
            ben.subscribe("two", query="SELECT * FROM Stock")
        ben.publish_batch("Stock", [1] * 50, [(1,)] * 50)
        with pytest.raises(Busy, match="quota events_per_second") as caught:
            ben.publish("Stock", {"price": 1})
        assert 0 < caught.value.retry <= 5_000_000
        with Client(broker.address, keys=site.ann) as ann:
            ann.publish_batch("Stock", [2] * 50, [(1,)] * 50)


def test_a_reload_withdraws_permissions_and_keys(site: Site) -> None:
    audited = '[audit]\npath = "audit.jsonl"\n'
    Path(site.place).write_text(site.configuration + audited)
    with spawn_reloading(site) as (process, address):
        with Client(address, keys=site.ops) as ops:
            ops.add_stream("Stock", {"price": "int"})
        ann, ben = Client(address, keys=site.ann), Client(address, keys=site.ben)
        subscription = ann.subscribe("ann.x", query="SELECT * FROM Stock")
        site.ann_reads = "[]"
        Path(site.place).write_text(site.configuration.replace(site.ben.public, site.stranger.public) + audited)
        process.process.send_signal(signal.SIGHUP)
        with pytest.raises(ConnectionLost, match="permissions have changed"):
            subscription.next(60)
        with pytest.raises(ConnectionLost, match="permissions have changed"):
            ben.ping()
        with pytest.raises(PermissionDenied):
            Client(address, keys=site.ben)
        with Client(address, keys=site.ann) as again, pytest.raises(PermissionDenied, match="to read"):
            again.subscribe("ann.x", query="SELECT * FROM Stock")
        Path(site.place).write_text("nonsense")
        process.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        with Client(address, keys=site.stranger) as known:
            known.ping()
        ann.close()
        ben.close()
        process.process.terminate()
        _, log = process.process.communicate(timeout=60)
        assert '"event": "reloaded"' in log
        assert '"event": "not reloaded"' in log
        assert site.ann.secret not in log
    lines = [json.loads(line) for line in (site.folder / "audit.jsonl").read_text().splitlines()]
    assert [(line["user"], line["action"], line["outcome"]) for line in lines] == [
        ("ops", "declare-stream", "done"),
        ("ann", "subscribe", "done"),
        (None, "reload", "done"),
        ("ann", "subscribe", "refused"),
        (None, "reload", "refused"),
    ]
    assert lines[2]["details"] == {"users changed": ["ann", "ben"]}


@contextmanager
def spawn_reloading(site: Site) -> Iterator[tuple[BrokerProcess, str]]:
    """By the command line, which knows the file to read again."""
    command = [sys.executable, "-m", "broker.command", "serve", "--config", site.place]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip().removeprefix("listening on ")
            yield BrokerProcess(process, address), address
        finally:
            process.kill()


def test_a_broker_does_not_start_where_it_would_be_open(site: Site) -> None:
    for configuration, reason in (
        ('address = "tcp://0.0.0.0:0"', "expected a loopback address"),
        (site.configuration.replace("broker.keys", "missing.keys"), "missing.keys: No such file"),
    ):
        process = spawn_broker(configuration, site.place)
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 2
        assert reason in complaint
        assert complaint.count("\n") == 1
    os.chmod(site.folder / "broker.keys", 0o640)
    process = spawn_broker(site.configuration, site.place)
    _, complaint = process.communicate(timeout=60)
    assert "expected a file that only its owner can read (chmod 600), found the mode 640" in complaint


def test_other_machines_are_served_with_keys_or_after_a_loud_warning(site: Site) -> None:
    with broker_process(site.configuration.replace("127.0.0.1", "0.0.0.0"), site.place) as broker:
        address = broker.address.replace("0.0.0.0", "127.0.0.1")
        with Client(address, keys=site.ann) as ann:
            ann.ping()
        with pytest.raises(ForetellError):
            Client(address, timeout=60, keys=site.stranger)
    with broker_process('address = "tcp://0.0.0.0:0"\n[security]\ninsecure = true', site.place) as broker:
        with Client(broker.address.replace("0.0.0.0", "127.0.0.1")) as client:
            client.ping()
        broker.process.terminate()
        _, log = broker.process.communicate(timeout=60)
        assert "everybody on the network may read and change everything" in log


def test_a_client_must_know_the_brokers_key(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="keys: expected server = "):
        Client("tcp://127.0.0.1:1", keys=pair())
    path = tmp_path / "client.keys"
    path.touch(0o600)
    path.write_text(written_keys(site.ann, "ann"))
    with site.broker() as broker, Client(broker.address, keys=path) as ann:
        ann.ping()


def test_who_has_not_said_hello_gets_no_numbers(site: Site) -> None:
    with site.broker() as broker, dealer(broker.address, site.ops) as ops:
        ops.send(encode(Statistics(3)))
        answer = decode(ops.recv())
        assert isinstance(answer, Failure)
        assert answer.code == "session"
