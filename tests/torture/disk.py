"""Losses of power of a real broker: `python -m torture.disk COUNT [SEED]`.

Run in tests/, with the repository on PYTHONPATH. A broker works on a real folder, is told to stop or killed, and starts
again, while `disk_recorder.c` records each write, size, name and sync that it asks the system for. The power goes at
any place of that record: the folder is made again as a disk may have it then. What was synced before is there; of the
rest some sectors and names are, in no order (doubles.simulated_files). A broker is started on it. It refuses nothing,
tells of no damage, and has every batch that was answered before that moment, once and under the same receipt; every
match of the batches that it has, under its id and position; and every acknowledgement that was answered. Prints what
was met.
"""

from __future__ import annotations

import signal
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, NamedTuple

from doubles.broker_process import broker_process
from doubles.forked_brokers import Forking, forked_brokers
from doubles.preloaded import preloaded
from doubles.simulated_files import Inode, SimulatedFiles
from torture.files import CUT_OFF
from torture.kills import ATTRIBUTES, PAIRS, PATIENCE, ROWS, Batch, batch
from torture.peers import Peer, sockets

from broker.engine import Engine
from broker.wire import AddStream, Publish, Published, encode
from client import Client

LIVES: Final = 3
BATCHES: Final = 40
"""In each life."""

CUTS: Final = 40
"""Losses of power of each record."""

CONFIG: Final = """
address = "tcp://127.0.0.1:0"
[journal]
path = "data"
segment_bytes = 4_000
checkpoint_bytes = 2_000
"""
_HEAD: Final = struct.Struct("<cQqI")


class Change(NamedTuple):
    """One record of the recorder; `end`: the size of the record with it."""

    kind: bytes
    inode: int
    number: int
    text: bytes
    end: int


@dataclass
class Told:
    """What a client knew when the record had this size."""

    size: int
    answered: int  # batches
    acknowledged: int  # the position that a reader has done with, as the broker has confirmed
    asked: int  # and the one up to which it has asked


@dataclass
class History:
    """The record of a broker's lives, and what its clients were told meanwhile."""

    changes: list[Change]
    told: list[Told]
    batches: list[Batch]


def recorded(record: Path) -> Iterator[Change]:
    """What the file says."""
    data, at = record.read_bytes(), 0
    while at < len(data):
        kind, inode, number, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        yield Change(kind, inode, number, data[at - length : at], at)


def history(folder: Path, seed: int) -> History:
    """Of one folder, from its beginning, through some lives."""
    chance = Random(seed)
    record, place = folder / "record", folder / "recorded"
    place.mkdir()
    environment = {**preloaded("disk_recorder.c", folder), "RECORDED": str(place), "RECORD": str(record)}
    batches = [batch(number, chance) for number in range(LIVES * BATCHES + 1)]
    told = [Told(0, 0, 0, 0)]

    def note(answered: int, acknowledged: int, asked: int) -> None:
        told.append(Told(record.stat().st_size, answered, acknowledged, asked))

    for life in range(LIVES):
        with broker_process(CONFIG, str(place / "foretell.toml"), environment) as broker, sockets(1) as context:
            publisher = Peer(context, broker.address)
            publisher.ask(AddStream(1, "S", ATTRIBUTES, None, "arrival", None, None))
            with Client(broker.address, timeout=PATIENCE) as client:
                reader = client.subscribe("pairs", query=PAIRS, durable="reader")
                number, until = life * BATCHES, (life + 1) * BATCHES
                while number < until:
                    under_way = range(number, min(until, number + chance.randrange(1, 7)))
                    for each in under_way:
                        publisher.socket.send(encode(publication(each, batches)))
                    for each in under_way:
                        check_receipt(publisher.answer(), each)
                        note(each + 1, told[-1].acknowledged, told[-1].asked)
                    number = under_way.stop
                    last = told[-1].asked
                    for _ in range(chance.randrange(20)):
                        found = reader.next(0)
                        last = last if found is None or found.position is None else max(last, found.position)
                    if last > told[-1].asked:
                        note(number, told[-1].acknowledged, last)
                        reader.acknowledge()
                        note(number, last, last)
            broker.process.send_signal(chance.choice((signal.SIGKILL, signal.SIGTERM)))
            broker.process.wait()
    changes = list(recorded(record))
    disk = Disk(chance)
    for change in changes:
        disk.apply(change)
    contents = {path.name: path.read_bytes() for path in (place / "data").iterdir()}
    assert disk.files.contents() == contents, "the record is not all that was done"
    return History(changes, told, batches)


def publication(number: int, batches: list[Batch]) -> Publish:
    """A batch as a publisher says it that repeats what was not answered."""
    times, rows = batches[number]
    return Publish(1, "S", tuple(times), tuple(rows), None, None, "publisher", number + 1)


def check_receipt(answer: object, number: int) -> None:
    assert isinstance(answer, Published), answer
    assert (answer.first_id, answer.count) == (1 + ROWS * number, ROWS), f"batch {number}: {answer}"


@dataclass
class Disk:
    """The changes so far. `left_out`: of names that contain this the syncs are forgotten, as if nobody had asked."""

    random: Random
    left_out: str | None = None
    files: SimulatedFiles = field(init=False)
    inodes: dict[int, Inode] = field(default_factory=dict)
    folder: int = 0  # the inode of the folder, when it is there
    begun: dict[int, int] = field(default_factory=dict)
    made: Counter[int] = field(default_factory=Counter)  # changes since the beginning; of the folder: of names
    durable: Counter[int] = field(default_factory=Counter)
    exists: bool = False
    kept: bool = False  # whether the folder itself is durable

    def __post_init__(self) -> None:
        self.files = SimulatedFiles(self.random)

    def apply(self, change: Change) -> None:
        """The next one."""
        files, name = self.files, Path(change.text.decode()).name if change.kind in b"CU" else ""
        match change.kind:
            case b"D":
                self.exists = True
            case b"C":
                files.create(name)
                self.inodes[change.inode] = files.cache[name]
                self.made[change.inode] = self.durable[change.inode] = 0
                self.made[0] += 1
            case b"U":
                files.remove(name)
                self.made[0] += 1
            case b"R":
                before, after = (Path(part.decode()).name for part in change.text.split(b"\0"))
                files.rename(before, after)
                self.made[0] += 1
            case b"W":
                self._change(change.inode, (change.number, change.text))
            case b"T":
                self._change(change.inode, change.number)
            case b"A":
                if change.number > len(self.inodes[change.inode].cache):
                    self._change(change.inode, change.number)
            case b"B":
                self.begun[change.inode] = self.made[change.inode if change.inode in self.inodes else 0]
            case _:
                self._sync(change.inode)

    def _change(self, inode: int, change: tuple[int, bytes] | int) -> None:
        self.inodes[inode].change(change)
        self.made[inode] += 1

    def _sync(self, number: int) -> None:
        inode = self.inodes.get(number)
        if inode is not None:
            name = next((name for name, each in self.files.cache.items() if each is inode), "")
            if self.left_out is None or self.left_out not in name:
                count = max(0, self.begun[number] - self.durable[number])
                inode.sync(count)
                self.durable[number] += count
        elif not self.kept:
            self.kept = True  # the first folder that is synced is the one in which ours was made
        elif self.left_out != "folder":
            count = max(0, self.begun[number] - self.durable[0])
            self.files.settle_names(count)
            self.durable[0] += count

    def lose_power(self) -> dict[str, bytes] | None:
        """What is there afterwards; None: not even the folder."""
        if not self.exists or (not self.kept and self.random.random() < 0.5):
            return None
        self.files.lose_power()
        return self.files.contents()


def lay(folder: Path, contents: dict[str, bytes] | None) -> None:
    """The files, in place of what is there."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for path in data.iterdir():
        path.unlink()
    if contents is None:
        data.rmdir()
        return
    for name, content in contents.items():
        (data / name).write_bytes(content)
        (data / name).chmod(0o600)


def check(forking: Forking, folder: Path, whole: History, ids: list[list[str]], at: int) -> Counter[str]:
    """Start a broker on what is there: it has all that was told when the record had this size. What was met."""
    told = max((each for each in whole.told if each.size <= at), key=lambda each: each.size)
    asked = max(each.asked for each in whole.told if each.size <= at)
    with forking.broker(folder / "foretell.toml") as broker, sockets(1) as context:
        assert broker.address, broker.complaints
        assert all(CUT_OFF in line for line in broker.complaints), broker.complaints
        publisher = Peer(context, broker.address)
        publisher.ask(AddStream(1, "S", ATTRIBUTES, None, "arrival", None, None))
        with Client(broker.address, timeout=PATIENCE) as client:
            events = client.statistics()["broker"]["events"]
            done = events // ROWS
            assert events == done * ROWS, "half a batch"
            assert done >= told.answered, f"{told.answered} batches were answered, {done} are there"
            reader = client.subscribe("pairs", query=PAIRS, durable="reader")
            for number in range(max(0, done - 3), done + 1):
                check_receipt(publisher.ask(publication(number, whole.batches)), number)
            expected = [each for some in ids[: done + 1] for each in some]
            position = None
            while position != len(expected):
                found = reader.next(PATIENCE)
                assert found is not None, f"{position} of {len(expected)} matches came"
                assert found.position is not None
                if position is None:
                    assert told.acknowledged < found.position <= asked + 1, (told, found.position)
                else:
                    assert found.position == position + 1
                position = found.position
                assert found.id == expected[position - 1]
    return Counter({"losses of power": 1, "with a torn end": len(broker.complaints), "batches there": done})


def attack(whole: History, count: int, seed: int, folder: Path, left_out: str | None = None) -> Counter[str]:
    """So many losses of power of one broker. AssertionError for what must not be."""
    chance = Random(seed)
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES)
    engine.subscribe("pairs", query=PAIRS)
    ids = [[each.line()["id"] for each in engine.publish("S", *each)] for each in whole.batches]
    met = Counter({"changes": len(whole.changes)})
    place = folder / "rebuilt"
    lay(place, None)
    (place / "foretell.toml").write_text(CONFIG)
    (place / "foretell.toml").chmod(0o600)
    with forked_brokers(folder) as forking:
        for _ in range(count):
            cut = chance.randrange(len(whole.changes) + 1)
            disk = Disk(chance, left_out)
            for change in whole.changes[:cut]:
                disk.apply(change)
            lay(place, disk.lose_power())
            try:
                met += check(forking, place, whole, ids, whole.changes[cut - 1].end if cut else 0)
            except BaseException as error:
                error.add_note(f"seed {seed}, after {cut} of {len(whole.changes)} changes")
                raise
    return met


def main(count: int, seed: int = 0) -> None:
    begun = monotonic()
    met: Counter[str] = Counter()
    for part in range(0, count, CUTS):
        with tempfile.TemporaryDirectory() as folder:
            whole = history(Path(folder), seed + part)
            met += attack(whole, min(CUTS, count - part), seed + part, Path(folder))
    print(f"{dict(met)}, from seed {seed} on, {monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
