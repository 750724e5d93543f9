"""Storage on a real disk: the lock, killed processes, examination, backup of a folder in use, restore, the commands."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from doubles.ledger import Ledger
from simulation.storage_backups import back_up

from broker.command.backup import backup
from broker.command.copied_folder import copied_folder
from broker.command.fsck import fsck
from broker.command.restore import restore
from broker.events import ForetellError
from broker.kernel.records import StreamRemoved
from broker.storage import Damaged, Durability, Folder, Occupied, Store
from broker.storage.examination import examine

IDENTITY = b"d" * 16
SETTINGS = Durability(segment_bytes=2_000, growth_bytes=1_000, record_bytes=200)
KILLS = 10

WRITER = """
import sys
from pathlib import Path
from broker.storage import Durability, Folder, Store
from broker.kernel.records import StreamRemoved
from doubles.ledger import Ledger

settings = Durability(segment_bytes=2_000, growth_bytes=1_000, record_bytes=200)
store = Store(Folder.made(Path(sys.argv[1])), b"d" * 16, settings, 0)
ledger = Ledger()
store.recover(ledger)
while True:
    for _ in range(3):
        store.reserve()
        record = StreamRemoved(str(store.journal.position + 1))
        ledger.replay(store.append(record, 0), 0, record)
    print(store.commit(0), flush=True)
    if ledger.position % 30 == 0:
        store.checkpoint(ledger, 0)
"""


def started(path: Path) -> tuple[Store, Ledger]:
    store = Store(Folder.made(path), IDENTITY, SETTINGS, 0)
    ledger = Ledger()
    store.recover(ledger)
    return store, ledger


def append(store: Store, ledger: Ledger, count: int) -> None:
    for _ in range(count):
        store.reserve()
        record = StreamRemoved(str(store.journal.position + 1))
        ledger.replay(store.append(record, 0), 0, record)
    store.commit(0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A hundred records, two checkpoints, closed."""
    store, ledger = started(tmp_path / "data")
    for count in (30, 30, 40):
        append(store, ledger, count)
        if count == 30:
            store.checkpoint(ledger, 0)
    store.close()
    return tmp_path / "data"


def test_a_folder_comes_back_with_everything(folder: Path) -> None:
    store, ledger = started(folder)
    assert ledger.position == 100
    assert store.statistics()["position"] == 100
    assert store.statistics()["checkpoint"] == 60
    assert [entry.position for entry in store.journal.read(42)] == list(range(43, 101))
    store.check_invariants()
    store.close()


def test_what_the_system_writes_in_parts_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: write(descriptor, bytes(data)[:3], offset))
    folder = Folder(tmp_path)
    file = folder.create("some")
    file.write(2, b"0123456789")
    file.close()
    assert folder.read("some") == b"\0\x000123456789"


def test_a_folder_in_the_place_of_an_older_checkpoint_is_refused_with_its_name(folder: Path) -> None:
    older = min(folder.glob("*.checkpoint"))
    older.unlink()
    older.mkdir()
    with pytest.raises(Damaged, match=f"{re.escape(older.name)}: expected a file, found a folder"):
        started(folder)


def test_two_brokers_do_not_share_a_folder(folder: Path) -> None:
    store, _ = started(folder)
    with pytest.raises(Occupied, match=f"process {os.getpid()} works on this folder"):
        started(folder)
    store.close()
    started(folder)[0].close()


def test_a_lock_that_was_removed_or_replaced_is_still_held(folder: Path) -> None:
    store, _ = started(folder)
    (folder / "lock").unlink()
    with pytest.raises(Occupied, match="another process works on this folder"):
        started(folder)
    (folder / "lock").unlink(missing_ok=True)
    (folder / "lock").write_text("1\n")
    with pytest.raises(Occupied, match="works on this folder"):
        started(folder)
    store.close()
    started(folder)[0].close()


def test_a_broker_of_an_earlier_version_keeps_others_out(folder: Path) -> None:
    """It has locked the file alone."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write("4711\n")
        file.flush()
        with pytest.raises(Occupied, match="process 4711 works on this folder"):
            started(folder)
    started(folder)[0].close()


def test_killed_processes_lose_nothing_that_was_told(tmp_path: Path) -> None:
    """A page cache outlives a process, so this says nothing about syncs: the simulations do."""
    random = Random(1)
    chain: dict[int, bytes] = {0: b""}
    model = Ledger()
    for position in range(1, 20_000):
        model.replay(position, 0, StreamRemoved(str(position)))
        chain[position] = model.chain
    for _ in range(KILLS):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "data")], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        told = 0
        for _ in range(random.randrange(1, 40)):
            told = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        told = max([told, *map(int, writer.stdout.read().split(b"\n")[:-1])])
        writer.wait()
        writer.stdout.close()
        store, ledger = started(tmp_path / "data")
        assert ledger.position >= told
        assert ledger.chain == chain[ledger.position]
        store.close()


def test_an_examination_sees_every_file(folder: Path) -> None:
    found = list(examine(Folder(folder)))
    assert {finding.name for finding in found} == {path.name for path in folder.iterdir()} - {"lock"}
    assert not any(finding.damage for finding in found)
    assert any("state after record 60" in finding.text for finding in found)


def test_a_backup_of_a_folder_in_use_is_a_prefix_that_starts(folder: Path, tmp_path: Path) -> None:
    store, ledger = started(folder)
    append(store, ledger, 25)
    chain = ledger.chain
    copied = copied_folder(folder, tmp_path / "copy")
    append(store, ledger, 25)
    assert (copied.position, copied.checkpoint) == (125, 60)
    store.close()
    other, restored = started(tmp_path / "copy")
    assert restored.position == 125
    assert restored.chain == chain
    append(other, restored, 5)
    other.close()


@pytest.mark.parametrize("seed", range(40))
def test_a_backup_is_consistent_whatever_happens_meanwhile(seed: int) -> None:
    assert back_up(seed)


def test_the_commands_say_what_they_did(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup(folder, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "again")
    fsck(tmp_path / "again")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{tmp_path / 'backup'}: up to position 100, ")
    assert lines[1] == f"{tmp_path / 'again'}: a broker started here begins after position 100"
    assert all(line.startswith("ok       ") for line in lines[2:])
    assert started(tmp_path / "again")[1].position == 100


def test_the_commands_refuse_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ForetellError, match="expected a folder that does not exist yet, found one"):
        backup(folder, tmp_path)
    with pytest.raises(FileNotFoundError):
        backup(tmp_path / "nowhere", tmp_path / "copy")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ForetellError, match="expected a journal, found none"):
        fsck(tmp_path / "empty")
    with pytest.raises(ForetellError, match="expected a journal to copy, found none"):
        backup(tmp_path / "empty", tmp_path / "copy")
    segment = min(folder.glob("*.journal"))
    content = bytearray(segment.read_bytes())
    content[200] ^= 4
    segment.write_bytes(content)
    with pytest.raises(Damaged, match=rf"{segment.name}: offset \d+: record \d+ is bad, although it was durable"):
        fsck(folder)
    with pytest.raises(Damaged, match=rf"{segment.name}: offset"):
        backup(folder, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "copy.partial").exists()
