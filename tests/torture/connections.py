"""Raw connections that say nonsense and are closed with a reset: `python -m torture.connections COUNT [SEED]`.

Run in tests/, with the repository on PYTHONPATH. A reset leaves no port waiting, so that they do not run out. Beside
them a client publishes and is notified, all the time; its waits are compared with those that it has alone
(torture.innocent). Prints these, the rate, and what the broker holds and has held.
"""

from __future__ import annotations

import socket
import struct
import sys
from random import Random
from time import monotonic
from typing import Final

from doubles.broker_process import broker_process, python_process
from doubles.process_gauges import comes_true, open_files, resident_kilobytes
from torture.innocent import beside

from broker.wire import Ping, encode

QUIET: Final = '[log]\nlevel = "error"\n'
"""Nobody reads what the broker says here."""

SHARED: Final = f"io_threads = 4\n{QUIET}"
"""Those who attack and those who do not are spread over four threads: as is advised where strangers come."""

GREETING: Final = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL" + bytes(16) + b"\0" + bytes(31)
READY: Final = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x06DEALER"
"""How a ZeroMQ peer begins: after these two it may send frames."""

MEMORY_GROWTH_MAX: Final = 0.05

_RESET: Final = struct.pack("ii", 1, 0)
_ATTACK: Final = """
    import os, sys
    os.nice(19)  # those who attack bring a machine of their own
    from torture.connections import attack
    attack(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


def nonsense(chance: Random) -> bytes:
    """What one connection says: nothing, noise, another protocol, or ZeroMQ as far as it suits it."""
    noise = chance.randbytes(chance.randrange(300))
    match chance.randrange(8):
        case 0:
            return b""
        case 1:
            return b"GET / HTTP/1.1\r\n\r\n"
        case 2:
            return GREETING[: chance.randrange(len(GREETING))]
        case 3:
            return GREETING + noise
        case 4:
            return GREETING + READY + noise
        case 5:
            frame = encode(Ping(7))
            return GREETING + READY + bytes((0, len(frame))) + frame  # whole, and the answer reaches nobody
        case 6:
            return GREETING + READY + b"\x02" + struct.pack(">Q", chance.choice((2**20, 2**31, 2**63))) + noise
        case _:
            return noise


def attack(address: str, count: int, seed: int) -> None:
    """So many connections, one after the other."""
    chance = Random(seed)
    host, _, port = address.removeprefix("tcp://").rpartition(":")
    for _ in range(count):
        with socket.create_connection((host, int(port)), timeout=60) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            raw.sendall(nonsense(chance))


def main(count: int, seed: int = 0, rounds: int = 10) -> None:
    with broker_process(SHARED) as broker:
        process, files = broker.process.pid, open_files(broker.process.pid)
        attack(broker.address, count // 10, seed - 1)
        held = [resident_kilobytes(process)]
        seconds = 0.0
        with beside(broker.address) as innocent:
            for number in range(rounds):
                innocent.rest()
                begun = monotonic()
                with (
                    innocent.attack(),
                    python_process(_ATTACK, broker.address, str(count // rounds), str(seed + number)) as attacker,
                ):
                    _, complaint = attacker.communicate()
                    assert attacker.returncode == 0, complaint
                seconds += monotonic() - begun
                held.append(resident_kilobytes(process))
            print(f"{count:,} connections from seed {seed} on in {seconds:.0f} s, {count / seconds:,.0f} a second")
            innocent.check()
        assert comes_true(lambda: open_files(process) <= files), "a connection was not closed"
        held.append(resident_kilobytes(process))
    print(f"memory in kB, before and after each round: {held}")
    assert held[-1] <= held[0] * (1 + MEMORY_GROWTH_MAX)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
