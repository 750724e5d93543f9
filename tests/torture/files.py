"""Damaged files of every kind that a broker reads: `python -m torture.files COUNT [SEED]`.

Run in tests/, with the repository on PYTHONPATH. A folder as a killed broker has left it, with all its kinds of files:
configuration, subscriptions, model, keys, lock, mark, segments, checkpoints. One file is changed, cut, exchanged or
removed, and a broker is started. It refuses in one line that names the file, with exit status 2, and harms nothing:
with the file as it was, all is there. Or it starts, and has an exact prefix of what was there - events, matches, their
ids and positions - of which it has told where anything is missing, and goes on from there. Prints what came of them.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

import zmq
from doubles.forked_brokers import ForkedBroker, Forking, forked_brokers
from torture.frames import mutated
from torture.kills import ATTRIBUTES, PAIRS, PATIENCE, ROWS, Batch, batch

from broker.engine import Engine
from broker.events import ForetellError
from broker.forecast.model_file import save_model
from broker.wire.keys import Keys, written_keys
from client import Client, ConnectionLost

CONFIG: Final = "foretell.toml"
SOURCES: Final = (CONFIG, "declared.toml", "counted.json", "broker.keys")
"""What an operator writes: with another text it may mean something else."""

CUT_OFF: Final = "cut off"
LIVES: Final = (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL)
BATCHES: Final = 20
"""In each life."""

_DECLARED: Final = f"""
[streams.S]
attributes = {{ k = "string", x = "int" }}
key = "k"
[subscriptions.foreseen]
language = "cayuga"
query = "{PAIRS}"
forecast = {{ within = 3, threshold = 0.5, context = ["key"] }}
"""
_CONFIG: Final = """
address = "tcp://127.0.0.1:0"
subscriptions = "declared.toml"
model = "counted.json"
drain = "1 s"
[security]
keys = "broker.keys"
[users.ann]
keys = ["{ann}"]
publish = ["*"]
read = ["*"]
subscribe = ["*"]
declare = ["*"]
admin = true
[journal]
path = "data"
segment_bytes = 3_000
"""


@dataclass(frozen=True)
class Sample:
    """`batches` were published; `ids` of the matches of each event, from the first on; `keys`: the client's file."""

    contents: dict[str, bytes]
    keys: Path
    batches: list[Batch]
    ids: list[list[str]]

    def lay(self, folder: Path) -> None:
        """All of it, in place of what is there."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "data").mkdir(parents=True)
        for name in self.contents:
            self.mend(folder, name)

    def mend(self, folder: Path, name: str) -> None:
        """This file as it was."""
        path = folder / name
        if path.is_dir():
            path.rmdir()
        path.write_bytes(self.contents[name])
        path.chmod(0o600)

    def kinds(self) -> dict[str, list[str]]:
        """Names of files by what they are."""
        found = {name: [name] for name in SOURCES} | {name: [f"data/{name}"] for name in ("lock", "journal.mark")}
        for suffix in ("journal", "checkpoint"):
            *older, newest = sorted(name for name in self.contents if name.endswith(f".{suffix}"))
            found |= {f"newest {suffix}": [newest], f"older {suffix}": older}
        return found


def sample(folder: Path, forking: Forking, seed: int) -> Sample:
    """Made by a broker in some lives, the last of which is killed."""
    chance = Random(seed)
    place = folder / "sample"
    (place / "data").mkdir(parents=True)
    pairs = [Keys(*(key.decode() for key in zmq.curve_keypair())) for _ in range(2)]
    keys = folder / "ann.keys"
    keys.write_text(written_keys(Keys(pairs[1].public, pairs[1].secret, pairs[0].public), "ann"))
    (place / "broker.keys").write_text(written_keys(pairs[0], "the broker"))
    for path in (keys, place / "broker.keys"):
        path.chmod(0o600)
    (place / CONFIG).write_text(_CONFIG.replace("{ann}", pairs[1].public))
    (place / "declared.toml").write_text(_DECLARED)
    engine = Engine.load(place / "declared.toml")
    engine.publish("S", *batch(0, chance))
    save_model(engine.model(), place / "counted.json")
    made = Sample({}, keys, [batch(number, chance) for number in range(len(LIVES) * BATCHES + 1)], [])
    matcher = Engine()
    matcher.add_stream("S", ATTRIBUTES)
    matcher.subscribe("pairs", query=PAIRS)
    for times, rows in made.batches:
        for time, row in zip(times, rows):
            made.ids.append([each.line()["id"] for each in matcher.publish("S", [time], [row])])
    for life, ending in enumerate(LIVES):
        with forking.broker(place / CONFIG) as broker:
            assert broker.address, broker.complaints
            with client_of(broker, keys, PATIENCE) as client:
                client.subscribe("pairs", query=PAIRS, durable="reader")
                for times, rows in made.batches[life * BATCHES : (life + 1) * BATCHES]:
                    client.publish_batch("S", times, rows)
            broker.end(ending)
    for path in place.rglob("*"):
        if path.is_file():
            made.contents[str(path.relative_to(place))] = path.read_bytes()
    return made


def client_of(broker: ForkedBroker, keys: Path, patience: float) -> Client:
    """A machine that stands still for a while loses handshakes: it tries twice."""
    try:
        return Client(broker.address, keys=str(keys), timeout=patience)
    except ConnectionLost:
        return Client(broker.address, keys=str(keys), timeout=patience)


def damage(chance: Random, whole: Sample, folder: Path, name: str) -> str:
    """What was done to this file."""
    path = folder / name
    content = whole.contents[name]
    match chance.randrange(12):
        case 0:
            path.unlink()
            return "removed"
        case 1:
            path.write_bytes(b"")
            return "emptied"
        case 2:
            path.unlink()
            path.mkdir()
            return "made a folder"
        case 3:
            other = chance.choice(sorted(set(whole.contents) - {name}))
            path.write_bytes(whole.contents[other])
            return f"given the content of {other}"
        case _:
            changed = body = content.rstrip(b"\0")  # what is behind it is room only
            while changed == body:
                changed = mutated(chance, [body or content])
            path.write_bytes(changed + content[len(body) :])
            return "changed"


def there(folder: Path) -> dict[str, bytes]:
    """Every file but for what says who works here."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def outcome(broker: ForkedBroker, whole: Sample, folder: Path, name: str) -> str:
    """`refused`, `whole`, `shorter`, or `other` where the operator has said something else; else AssertionError."""
    if not broker.address:
        assert broker.status == 2, (broker.status, broker.complaints)
        assert len(broker.complaints) == 1, broker.complaints
        line = broker.complaints[0]
        assert line.startswith("foretell: ")
        assert str(folder) in line
        assert name in SOURCES or Path(name).name in line, line
        return "refused"
    if name in SOURCES:
        try:
            found = state(broker, whole, 3)
        except (ForetellError, TimeoutError):
            found = "other"
    else:
        found = state(broker, whole, PATIENCE)
        assert found == "whole" or any(CUT_OFF in line for line in broker.complaints), "shorter, and nothing told"
    assert broker.end(signal.SIGTERM) == 0, broker.complaints
    return found


def state(broker: ForkedBroker, whole: Sample, patience: float) -> str:
    """`whole` or `shorter`: what it has is an exact prefix, and it goes on."""
    with client_of(broker, whole.keys, patience) as client:
        events = client.statistics()["broker"]["events"]
        done, most = divmod(events, ROWS)[0], len(LIVES) * BATCHES
        assert events == done * ROWS <= most * ROWS
        subscription = client.subscribe("pairs", query=PAIRS, durable="reader")
        receipt = client.publish_batch("S", *whole.batches[done])
        assert receipt.first_id == events + 1
        expected = [each for ids in whole.ids[: events + ROWS] for each in ids]
        told: dict[int | None, str] = {}
        while len(told) < len(expected):
            found = subscription.next(patience)
            assert found is not None, f"{len(told)} of {len(expected)} matches came"
            told[found.position] = str(found.id)
        assert told == dict(enumerate(expected, 1))
    return "whole" if done == most else "shorter"


def attack(count: int, seed: int, folder: Path) -> Counter[str]:
    """So many damaged files, of all kinds in turn: how many of each kind had which outcome."""
    met: Counter[str] = Counter()
    place = folder / "broken"
    with forked_brokers(folder) as forking:
        whole = sample(folder, forking, seed)
        kinds = whole.kinds()
        for number in range(count):
            chance = Random(f"{seed} {number}")
            kind = list(kinds)[number % len(kinds)]
            name = chance.choice(kinds[kind])
            whole.lay(place)
            done = damage(chance, whole, place, name)
            before = there(place)
            with forking.broker(place / CONFIG) as broker:
                try:
                    found = outcome(broker, whole, place, name)
                except BaseException as error:
                    error.add_note(f"seed {seed}, number {number}: {name} {done}; {broker.out}{broker.complaints}")
                    raise
            if found == "refused" and there(place) != before:
                whole.mend(place, name)
                with forking.broker(place / CONFIG) as broker:
                    again = outcome(broker, whole, place, name)
                    assert again == "whole", f"seed {seed}, number {number}: {name} {done}; {again}"
                met["refused when more was written, and whole with the file as it was"] += 1
            met[f"{kind}: {found}"] += 1
    return met


def main(count: int, seed: int = 0) -> None:
    begun = monotonic()
    with tempfile.TemporaryDirectory() as folder:
        met = attack(count, seed, Path(folder))
    print(f"{count:,} damaged files from seed {seed}, {monotonic() - begun:.0f} s")
    for each, times in sorted(met.items()):
        print(f"{each} {times:,}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
