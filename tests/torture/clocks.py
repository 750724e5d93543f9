"""A broker whose clock is set, again and again, forward and back: `python -m torture.clocks COUNT [SEED]`.

Run in tests/, with the repository on PYTHONPATH. `clock_jumps.c` sets the broker's wall clock by a second up to many
years; clients keep theirs. One publishes without times, one with the times of its own clock, both say again what was
refused as busy, early or expired, and a third is subscribed. A clock that is wrong for a moment leads nobody astray:
everything is taken, nothing is late, results come once and in order, nothing is stamped with a time far ahead, no
session ends. A right clock refuses nothing but one request of each that thinks it has another one. Now and then the
broker is killed or told to stop, and starts with a clock that is behind; or a clock is wrong for so long that it is
believed, and an administrator resets the time, after which it is as before. Prints what was met, and how long an
innocent client waits for an answer meanwhile.
"""

from __future__ import annotations

import mmap
import signal
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from time import monotonic, sleep, time_ns
from typing import Final, final

from doubles.broker_process import BrokerProcess, broker_process
from doubles.preloaded import preloaded
from torture.innocent import Waits, beside

from client import Busy, Client, EarlyEvent, Expired, Subscription

PATIENCE: Final = 120
SECOND: Final = 1_000_000
HOUR: Final = 3_600 * SECOND
YEAR: Final = 365 * 24 * HOUR
AHEAD_MAX: Final = 60 * SECOND
SMALL: Final = (-30 * SECOND, -SECOND, SECOND, 30 * SECOND)
"""Jumps within `ahead_max`, which are believed."""

JUMPS: Final = (*SMALL, -30 * YEAR, -YEAR, -23 * HOUR, -HOUR, HOUR, 23 * HOUR, YEAR, 200 * YEAR)
OWN: Final = 40 * SECOND
"""How far the times of the second client are before its clock: later than what a small jump stamps, not too early."""

EVENTS: Final = 4
"""Of each client, while the clock is wrong, and while it is right."""

LIVES_EVERY: Final = 25
BELIEVED_EVERY: Final = 40

QUERY: Final = "SELECT * FROM Both"
_SCHEMA: Final = {"who": "string", "n": "int"}
_CONFIG: Final = 'address = "tcp://127.0.0.1:0"\n[log]\nlevel = "error"\n[limits]\nahead_max = "60 s"\n[journal]\n'


@final
class Clock:
    """The broker's: `ahead` microseconds before ours."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(8))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 8)
        self.right = True

    def set(self, ahead: int, right: bool | None = None) -> None:
        """`right`: whether it is right, and the broker knows; None: it does where it is."""
        self.right = ahead == 0 if right is None else right
        self._shared[:] = struct.pack("<q", ahead)


@final
class Clients:
    """Two that publish to one stream, and one that reads it. `told`: numbers that each publisher's events had."""

    def __init__(self, address: str, clock: Clock, met: Counter[str], first: int) -> None:
        """`first`: the number of the next event."""
        self._clock = clock
        self._met = met
        self._number = first
        self._waiting: list[tuple[str, int]] = []
        with ExitStack() as stack:
            self._publishers = {
                who: stack.enter_context(Client(address, timeout=PATIENCE)) for who in ("stamped", "timed")
            }
            self._reader = stack.enter_context(Client(address, timeout=PATIENCE))
            self._reader.add_stream("Both", _SCHEMA)
            self._subscription: Subscription = self._reader.subscribe("both", query=QUERY)
            self._stack = stack.pop_all()

    def close(self) -> int:
        """The number of the next event."""
        self._stack.close()
        return self._number

    def publish(self, who: str, patience: int = 1_000) -> bool:
        """One event, said again while it is refused; False: it was refused so often, and has not been taken."""
        number = self._number
        for attempt in range(patience):
            refused = self._refused(who, number)
            if not refused:
                self._number += 1
                self._waiting.append((who, number))
                return True
            self._met[f"{who}: {refused}"] += 1
            if self._clock.right:
                assert refused == "expired", f"{who}: {refused}, and the clock is right"
                assert attempt == 0, "expired twice"
            elif refused != "expired":
                sleep(0.01)
        return False

    def _refused(self, who: str, number: int) -> str:
        """Why; empty if it was taken."""
        client = self._publishers[who]
        own = time_ns() // 1_000 + OWN if who == "timed" else None
        try:
            client.publish("Both", {"who": who, "n": number}, time=own)
        except (Busy, EarlyEvent, Expired) as refused:
            return refused.code
        return ""

    def read(self, most: int) -> None:
        """What was taken has come, once and in order, and no time is further ahead of our clock than this."""
        for who, number in self._waiting:
            found = self._subscription.next(PATIENCE)
            if found is not None and found.limit == "connection":  # of the life before, which told everything
                found = self._subscription.next(PATIENCE)
            assert found is not None
            assert found.data == {"who": who, "n": number}, found
            assert found.end is not None
            assert found.end <= time_ns() // 1_000 + most, "stamped far ahead"
        self._met["events"] += len(self._waiting)
        self._waiting.clear()

    def reset_time(self) -> None:
        """What an administrator does."""
        self._reader.reset_time("Both")


@final
class Trial:
    """A broker with a clock of its own, in lives."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = Random(seed)
        self.met: Counter[str] = Counter()
        self.number = 0
        self.clock = Clock(folder / "ahead")
        self._config = f'{_CONFIG}path = "{folder}/data"\nfsync = "os"\n'
        self._environment = {**preloaded("clock_jumps.c", folder), "AHEAD": str(folder / "ahead")}

    @contextmanager
    def life(self, behind: int | None = None) -> Iterator[BrokerProcess]:
        """From a start, with a clock that is so much behind, to an end; None: drawn."""
        self.clock.set(self.chance.choice((0, -30 * SECOND, -HOUR, -YEAR)) if behind is None else behind)
        with broker_process(self._config, environment=self._environment) as broker:
            self.clock.set(0, right=False)  # which looks like a jump
            yield broker
            broker.process.send_signal(self.chance.choice((signal.SIGTERM, signal.SIGKILL)))
            broker.process.wait()
        self.met["lives"] += 1

    def settle(self, clients: Clients) -> None:
        """A clock that was behind at the start is believed when it has been right for a while."""
        for who in ("timed", "stamped"):  # a subscription sees what is later than what was there when it came
            assert clients.publish(who, 3_000)
        self.clock.set(0)
        clients.read(AHEAD_MAX + OWN)

    def jump(self, clients: Clients, ahead: int) -> None:
        """The clock is wrong for a moment; then it is right, and all that was refused is taken."""
        self.met["jumps"] += 1
        self.clock.set(ahead)
        begun = monotonic()
        for _ in range(EVENTS):
            for who in ("stamped", "timed"):
                clients.publish(who, 3)
        held = monotonic() - begun
        self.clock.set(0)
        if held > 5 and ahead > AHEAD_MAX:  # the machine stood still: it may have been believed
            self.met["held too long"] += 1
            clients.reset_time()
        for _ in range(EVENTS):
            for who in ("stamped", "timed"):
                assert clients.publish(who)
        clients.read(AHEAD_MAX + OWN if held <= 5 else 2**61)

    def believe(self, clients: Clients) -> None:
        """A clock that is wrong for so long that it is believed, and what follows."""
        self.met["believed"] += 1
        self.clock.set(YEAR)
        assert clients.publish("stamped", 3_000)
        clients.read(YEAR + OWN)
        self.clock.set(0)
        clients.reset_time()
        for who in ("stamped", "timed"):
            assert clients.publish(who)
        clients.read(AHEAD_MAX + OWN)


def attack(trial: Trial, clients: Clients, jumps: int, believed: bool) -> None:
    """So many jumps of one broker, and a clock that is wrong for long."""
    for _ in range(jumps):
        trial.jump(clients, trial.chance.choice(JUMPS))
    if believed:
        trial.believe(clients)


def main(count: int, seed: int = 0) -> None:
    begun = monotonic()
    with tempfile.TemporaryDirectory() as folder:
        trial, waits = Trial(Path(folder), seed), Waits()
        for first in range(0, count, LIVES_EVERY):
            with trial.life() as broker, beside(broker.address, "answered") as innocent:
                clients = Clients(broker.address, trial.clock, trial.met, trial.number)
                trial.settle(clients)
                innocent.rest()
                with innocent.attack():
                    attack(trial, clients, min(LIVES_EVERY, count - first), first % BELIEVED_EVERY < LIVES_EVERY)
                innocent.rest()
                trial.number = clients.close()
                innocent.collect(waits)
    print(f"{dict(trial.met)}, from seed {seed} on, {monotonic() - begun:.0f} s")
    waits.check()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
