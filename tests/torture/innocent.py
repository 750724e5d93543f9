"""How long a client waits that does nothing wrong, alone and beside an attack; and what the machine does to it.

In a process of its own a client publishes and waits for its notification, or only for an answer, again and again. In a
third one somebody waits for the echo of a bare ROUTER: the floor. Where an attack takes all processors, that one waits
longer as well, and the client may by as many times as it does. What the attack is, others say.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Final, final

import zmq
from doubles.broker_process import python_process
from doubles.process_gauges import comes_true
from torture.figures import milliseconds, share

from client import Client

GROWTH_MAX: Final = 2.0
WAITS_ALONE: Final = 500
PAUSE_SECONDS: Final = 0.002
PATIENCE: Final = 60

_WAIT: Final = struct.Struct("<dd")
_PROGRAM: Final = """
    import sys
    from torture import innocent
    getattr(innocent, sys.argv[1])(*sys.argv[2:])
"""


def waiting(path: str, act: Callable[[int], None]) -> None:
    """Act again and again, and write down when, and how long that took."""
    number = 0
    with open(path, "ab", buffering=0) as file:
        while True:
            begun = monotonic()
            act(number)
            file.write(_WAIT.pack(begun, monotonic() - begun))
            number += 1
            sleep(PAUSE_SECONDS)


def notified(path: str, address: str) -> None:
    """A client that publishes and subscribes, to a stream of its own."""
    with Client(address, timeout=PATIENCE) as client:
        client.add_stream("Beside", {"x": "int"})
        subscription = client.subscribe("beside", query="SELECT * FROM Beside")

        def act(number: int) -> None:
            client.publish("Beside", {"x": number})
            found = subscription.next(PATIENCE)
            assert found is not None
            assert found.data == {"x": number}

        waiting(path, act)


def answered(path: str, address: str) -> None:
    """A client that asks whether there is anybody."""
    with Client(address, timeout=PATIENCE) as client:
        waiting(path, lambda number: client.ping())


def echoed(path: str) -> None:
    """Somebody at a socket that gives back what it gets, in another process."""
    with python_process(_PROGRAM, "echo") as process, zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        assert process.stdout is not None
        socket.linger = 0
        socket.connect(process.stdout.readline().strip())

        def act(number: int) -> None:
            socket.send(b"%d" % number)
            assert socket.recv() == b"%d" % number

        waiting(path, act)


def echo() -> None:
    """That socket; its address is said first. It ends with who has started it, also where that one was killed."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        print(f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}", flush=True)
        poller = zmq.Poller()
        poller.register(socket, zmq.POLLIN)
        poller.register(sys.stdin.fileno(), zmq.POLLIN)
        while sys.stdin.fileno() not in dict(poller.poll()):
            socket.send_multipart(socket.recv_multipart())


@final
@dataclass
class Waits:
    """Of the client and of the floor: alone, and beside an attack."""

    innocent: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    floor: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def check(self) -> float:
        """Print them. AssertionError where the client waits too long for what the machine is: how many times longer
        the floor waits."""
        for who, (alone, beside) in (("innocent client", self.innocent), ("floor", self.floor)):
            print(f"{who}, alone:  {milliseconds(alone)}")
            print(f"{who}, beside: {milliseconds(beside)}")
        growth, floor = (share(beside, 0.99) / share(alone, 0.99) for alone, beside in (self.innocent, self.floor))
        print(f"p99 of the innocent client {growth:.2f} times, of the floor {floor:.2f} times what it is alone")
        assert growth <= GROWTH_MAX * max(1.0, floor)
        return floor


@final
class Beside:
    """The waits of both, in the times in which there was no attack, and in which there was one."""

    def __init__(self, innocent: Path, floor: Path) -> None:
        self._files = innocent, floor
        self._alone: list[tuple[float, float]] = []
        self._attacked: list[tuple[float, float]] = []

    def has_waited(self, times: int) -> bool:
        """Whether the client has waited so often."""
        return self._files[0].exists() and self._files[0].stat().st_size >= times * _WAIT.size

    def rest(self, waits: int = WAITS_ALONE) -> None:
        """As long as it takes the client to wait so often, nobody attacks. In turn with attacks, as machines change."""
        before = self._files[0].stat().st_size // _WAIT.size if self._files[0].exists() else 0
        with self.quiet():
            assert comes_true(partial(self.has_waited, before + waits), 600), "the innocent client does not get on"

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """In the block there is no attack."""
        begun = monotonic()
        yield
        self._alone.append((begun, monotonic()))

    @contextmanager
    def attack(self) -> Iterator[None]:
        """The block is an attack."""
        begun = monotonic()
        yield
        self._attacked.append((begun, monotonic()))

    def collect(self, waits: Waits) -> None:
        """Add what was written down so far."""
        for into, path in ((waits.innocent, self._files[0]), (waits.floor, self._files[1])):
            found = list(_WAIT.iter_unpack(path.read_bytes()[: path.stat().st_size // _WAIT.size * _WAIT.size]))
            into[0].extend(_within(found, self._alone))
            into[1].extend(_within(found, self._attacked))

    def check(self) -> float:
        """As Waits.check, of what was written down so far."""
        waits = Waits()
        self.collect(waits)
        return waits.check()


def _within(waits: list[tuple[float, ...]], spans: list[tuple[float, float]]) -> list[float]:
    return [wait for begun, wait in waits if any(first <= begun < last for first, last in spans)]


@contextmanager
def beside(address: str, kind: str = "notified") -> Iterator[Beside]:
    """A client of this broker, `notified` or only `answered`; it must not fail, and ends with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        innocent, floor = folder / "innocent", folder / "floor"
        client = stack.enter_context(python_process(_PROGRAM, kind, str(innocent), address))
        bare = stack.enter_context(python_process(_PROGRAM, "echoed", str(floor)))
        yield Beside(innocent, floor)
        for process in (client, bare):
            if process.poll() is not None:
                raise AssertionError(process.communicate()[1])
