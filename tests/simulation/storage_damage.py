"""Journals and checkpoints that are cut anywhere, or have any bit turned, and a checker of what a start does then.

What it makes of them is an exact prefix of the records, or a refusal that names the file. A prefix that is shorter than
what was there has either lost its end with the file, or is told as torn; with the newest mark there is no shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from doubles.ledger import Ledger
from doubles.simulated_files import SimulatedFiles, forgetful

from broker.kernel.records import Record, StreamRemoved, SubscriptionRemoved
from broker.storage import Damaged, Durability, Store
from broker.storage.examination import examine

IDENTITY = b"fedcba9876543210"
SETTINGS = Durability(segment_bytes=400, growth_bytes=300, record_bytes=100)


@dataclass(frozen=True)
class Sample:
    """A folder as a broker has left it that was killed: its files, and the ledger's chain after each position."""

    contents: dict[str, bytes]
    chains: tuple[bytes, ...]

    @property
    def position(self) -> int:
        return len(self.chains) - 1

    @property
    def last_segment(self) -> str:
        return max(name for name in self.contents if name.endswith(".journal"))

    def forgetful(self) -> Sample:
        """The same after a loss of power that took what is never synced of the mark."""
        return Sample(forgetful(self.contents), self.chains)


def sample(seed: int, records: int = 25, checkpoints: tuple[int, ...] = ()) -> Sample:
    """So many records over a few segments, all of them durable, with checkpoints after these positions."""
    random = Random(seed)
    files = SimulatedFiles(random)
    store = Store(files, IDENTITY, SETTINGS, 1_000)
    ledger = Ledger()
    store.recover(ledger)
    chains = [ledger.chain]
    for number in range(records):
        record: Record = SubscriptionRemoved("x" * random.randrange(60)) if number % 3 else StreamRemoved(str(number))
        store.reserve()
        position = store.append(record, 1_000 + number)
        ledger.replay(position, 1_000 + number, record)
        chains.append(ledger.chain)
        if random.random() < 0.6 or position in checkpoints or number == records - 1:
            store.commit(2_000)
        if position in checkpoints:
            store.checkpoint(ledger, 2_000)
    return Sample(files.contents(), tuple(chains))


def outcome(whole: Sample, contents: dict[str, bytes], settings: Durability = SETTINGS) -> str:
    """`refused`, `whole` or `shorter`; AssertionError for anything else."""
    files = SimulatedFiles.holding(contents)
    ledger = Ledger()
    try:
        store = Store(files, IDENTITY, settings, 5_000)
        recovery = store.recover(ledger)
    except Damaged as error:
        names_its_place = str(error).startswith((*whole.contents, "expected a checkpoint"))
        if not names_its_place:
            raise
        return "refused"
    assert ledger.position == recovery.position <= whole.position
    assert ledger.chain == whole.chains[ledger.position], "an exact prefix"
    if ledger.position == whole.position:
        return "whole"
    shorter = sum(map(len, contents.values())) < sum(map(len, whole.contents.values()))
    assert recovery.torn or shorter, "a shorter journal is told"
    return "shorter"


def cut(whole: Sample, name: str, size: int) -> str:
    """The file ends there. Or is not there, with a negative size."""
    contents = dict(whole.contents)
    if size < 0:
        del contents[name]
    else:
        contents[name] = contents[name][:size]
    return outcome(whole, contents)


def flip(whole: Sample, name: str, bit: int) -> str:
    """This bit of the file is turned. Whatever a start makes of it, an examination sees it, or it was not in use."""
    content = bytearray(whole.contents[name])
    content[bit // 8] ^= 1 << bit % 8
    contents = {**whole.contents, name: bytes(content)}
    result = outcome(whole, contents)
    findings = list(examine(SimulatedFiles.holding(contents)))
    told = any(finding.damage or (finding.name == name and "torn" in finding.text) for finding in findings)
    assert told, f"{name}: bit {bit} is seen by nobody"
    return result


def flips(random: Random, whole: Sample, count: int) -> dict[str, int]:
    """So many bits turned, one at a time, in files drawn by their size; how many had each outcome."""
    names = sorted(whole.contents)
    sizes = [len(whole.contents[name]) for name in names]
    found = {"refused": 0, "whole": 0, "shorter": 0}
    for name in random.choices(names, sizes, k=count):
        found[flip(whole, name, random.randrange(8 * len(whole.contents[name])))] += 1
    return found
