"""A broker on its journal: what it says, what it takes again after an end, and what it refuses."""

from __future__ import annotations

import os
import re
import signal
import socket as sockets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import BrokerProcess, broker_process, spawn_broker
from doubles.opened_journal import opened

from broker.command.shell import perform
from broker.engine import Engine
from broker.events import DefinitionError, ForetellError
from broker.forecast.model_file import write_model
from broker.kernel import Effects
from broker.kernel.records import StreamDeclared, StreamRemoved
from broker.server import Broker, ServerConfiguration, check, read_configuration
from broker.server.durability_gate import DurabilityGate
from broker.server.logs import LOG
from broker.server.opening import Journalling
from broker.server.replicated_state import ReplicatedState
from broker.storage import Damaged, Durability, Folder, Occupied, Store, files
from client import Client

PATIENCE = 60
PAIRS = "SELECT * FROM S NEXT{$1.k = $2.k} S"


def configuration(folder: Path, more: str = "", top: str = "") -> str:
    return f'address = "tcp://127.0.0.1:0"\n{top}\n[journal]\npath = "{folder}"\n{more}\n'


def end(broker: BrokerProcess, number: signal.Signals) -> str:
    broker.process.send_signal(number)
    said, complaints = broker.process.communicate(timeout=PATIENCE)
    assert complaints == ""
    return said


def refused(text: str) -> str:
    """What a broker with this configuration complains of instead of starting."""
    process = spawn_broker(text)
    try:
        said, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, said) == (2, "")
    return complaint


def journalling(folder: Path) -> Journalling:
    return Journalling(folder, Durability(growth_bytes=4_096, record_bytes=4_096))


def wanted(*queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"})
    for number, query in enumerate(queries):
        engine.subscribe(f"q{number}", query=query)
    return engine


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_after_an_end_a_match_goes_on_with_what_had_begun(tmp_path: Path, number: signal.Signals) -> None:
    text = configuration(tmp_path / "data")
    with broker_process(text) as broker, Client(broker.address, PATIENCE) as client:
        client.add_stream("S", {"k": "string", "x": "int"})
        client.subscribe("pairs", query=PAIRS)
        assert client.publish("S", {"k": "a", "x": 1}, time=1).durability == "always"
        end(broker, number)
    engine = wanted()
    engine.subscribe("pairs", query=PAIRS)
    engine.publish("S", [1], [("a", 1)])
    (expected,) = engine.publish("S", [2], [("a", 2)])
    with broker_process(text) as broker, Client(broker.address, PATIENCE) as client:
        subscription = client.subscribe("pairs", query=PAIRS)
        assert subscription.attached
        assert client.publish("S", {"k": "a", "x": 2}, time=2).first_id == 2
        found = subscription.next(PATIENCE)
        assert found is not None
        assert found.id == expected.line()["id"]
        assert broker.process.stdout is not None
        assert "recovered to position 3" in broker.process.stdout.readline()


@pytest.mark.parametrize(("mode", "told"), [("always", "always"), ("interval", "interval 20000us"), ("os", "os")])
def test_every_receipt_says_what_it_promises(tmp_path: Path, mode: str, told: str) -> None:
    text = configuration(tmp_path / "data", f'fsync = "{mode}"\ninterval = "20 ms"')
    with broker_process(text) as broker, Client(broker.address, PATIENCE) as client:
        client.add_stream("S", {"x": "int"})
        receipts = [client.publish("S", {"x": n}, time=n) for n in range(5)]
        assert {receipt.durability for receipt in receipts} == {told}
        assert client.statistics()["journal"]["fsync"] == told


def test_without_a_journal_a_receipt_promises_memory() -> None:
    with broker_process() as broker, Client(broker.address, PATIENCE) as client:
        client.add_stream("S", {"x": "int"})
        assert client.publish("S", {"x": 1}).durability == "memory"


def test_a_damaged_journal_is_refused_in_one_line(tmp_path: Path) -> None:
    text = configuration(tmp_path / "data")
    with broker_process(text) as broker, Client(broker.address, PATIENCE) as client:
        for name in ("Stock", "Trade", "Quote"):
            client.add_stream(name, {"x": "int"})
        end(broker, signal.SIGKILL)  # in good order there would be a checkpoint, and nothing to read before it
    segment = min((tmp_path / "data").glob("*.journal"))
    content = bytearray(segment.read_bytes())
    content[content.index(b"Stock")] ^= 1
    segment.write_bytes(content)
    complaint = refused(text)
    assert complaint.count("\n") == 1
    assert f"{segment.name}: offset " in complaint


def test_a_second_broker_on_the_folder_is_refused(tmp_path: Path) -> None:
    text = configuration(tmp_path / "data")
    with broker_process(text):
        assert "works on this folder" in refused(text)


def _socket(path: Path) -> None:
    with sockets.socket(sockets.AF_UNIX) as bound:
        bound.bind(str(path))


OTHERS: dict[str, Callable[[Path], None]] = {
    "a folder": Path.mkdir,
    "a named pipe": os.mkfifo,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}
NAMES = ["lock", "journal.mark", f"{1:020}.journal", f"{0:020}.checkpoint", f"{9:020}.journal.new", "journal.mark.new"]


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file() and each.name != "lock"}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_file_in_the_place_of_one_is_refused_with_its_name(kind: str, tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        data = tmp_path / str(number)
        opened(journalling(data), Engine(), None, 0)[0].close()
        (data / name).unlink(missing_ok=True)
        OTHERS[kind](data / name)
        before = contents(data)
        told = f"{data}: {name}: expected a file, found {kind}"
        with pytest.raises(Damaged, match=f"^{re.escape(told)}$"):
            opened(journalling(data), Engine(), None, 0)
        assert contents(data) == before
        assert perform(["fsck", str(data)]) == (2 if "new" not in name and name != "lock" else 0)


@pytest.mark.parametrize("damage", ["old segment", "checkpoint", "mark", "definition"])
def test_a_refused_start_changes_nothing(damage: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    settings = Durability(growth_bytes=4_096, record_bytes=4_096, check="all")
    journal = Journalling(data, settings)
    for _ in range(3):  # a segment each
        store, state, _ = opened(journal, wanted(), None, 0)
        record = StreamDeclared(f"More{len(state.engine.streams)}", {"x": "int"}, None, "arrival", None, None, None)
        state.replay(store.journal.position + 1, 0, record)
        store.append(record, 0)
        store.commit(0)
        store.close()
    declared = wanted()
    if damage == "definition":
        declared.add_stream("More1", {"y": "string"})
    elif damage == "checkpoint":
        (data / f"{10**6:020}.checkpoint").write_bytes(bytes(200))
    elif damage == "mark":
        (data / "journal.mark").write_bytes(b"")
    else:
        old = min(data.glob("*.journal"))
        old.write_bytes(old.read_bytes()[:100] + b"~" + old.read_bytes()[101:])
    (data / "journal.mark.new").write_bytes(b"left behind")
    before = contents(data)
    with pytest.raises(ForetellError):
        opened(journal, declared, None, 0)
    assert contents(data) == before


REFUSED = {
    "address": ("tcp://127.0.0.1:{port}", "", "in use"),
    "console in use": ("tcp://127.0.0.1:0", '[console]\naddress = "http://127.0.0.1:{port}"', "in use"),
    "console of another machine": ("tcp://127.0.0.1:0", '[console]\naddress = "http://127.0.0.1:0"', "assign"),
    "tokens": ("tcp://127.0.0.1:0", '[console]\naddress = "http://127.0.0.1:0"\ntokens = "none"', "none"),
    "certificate": ("tcp://127.0.0.1:0", '[console]\naddress = "http://127.0.0.1:0"\ncertificate = "none"', "PEM"),
    "audit": ("tcp://127.0.0.1:0", '[audit]\npath = "none/audit"', "none/audit"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_else_refuses_a_start_is_found_before_the_journal_is_touched(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unassignable(address: Any, family: int) -> None:
        raise OSError("cannot assign")

    address, more, reason = REFUSED[kind]
    data = tmp_path / "data"
    opened(journalling(data), wanted(), None, 0)[0].close()
    with sockets.create_server(("127.0.0.1", 0)) as taken:
        text = f'address = "{address}"\n[journal]\npath = "data"\n{more}'.replace("{port}", str(taken.getsockname()[1]))
        (tmp_path / "foretell.toml").write_text(text)
        before = contents(data)
        if kind == "console of another machine":
            monkeypatch.setattr(sockets, "create_server", unassignable)
        assert perform(["serve", "--config", str(tmp_path / "foretell.toml")]) == 2
        assert reason in capsys.readouterr().err
        assert contents(data) == before
        if "in use" not in kind and kind != "address":
            assert perform(["serve", "--check", "--config", str(tmp_path / "foretell.toml")]) == 2
            assert reason in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["mark", "segment"])
def test_a_damaged_file_is_named_with_its_folder(damage: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    opened(journalling(data), wanted(), None, 0)[0].close()
    if damage == "mark":
        (data / "journal.mark").write_bytes(b"")
    else:
        segment = min(data.glob("*.journal"))
        segment.write_bytes(bytes([0, *segment.read_bytes()[1:]]))
    with pytest.raises(Damaged, match=f"^{re.escape(str(data))}: "):
        opened(journalling(data), wanted(), None, 0)


def test_keys_that_cannot_be_read_are_refused_before_the_journal_is_touched(tmp_path: Path) -> None:
    users = f'[security]\nkeys = "{tmp_path}/broker.keys"\n[users.ann]\nkeys = ["{"a" * 40}"]'
    assert "broker.keys" in refused(configuration(tmp_path / "data", users))
    assert not (tmp_path / "data").exists()


# ---- the configuration ----


def test_what_the_configuration_declares_is_brought_into_the_state(tmp_path: Path) -> None:
    every, other = "SELECT * FROM S", "SELECT x FROM S"
    store, history, _ = opened(journalling(tmp_path / "data"), wanted(every, PAIRS), None, 0)
    assert store.journal.durable == 3
    history.engine.publish("S", [1], [("a", 1)])
    store.close()
    store, history, recovery = opened(journalling(tmp_path / "data"), wanted(every, PAIRS), None, 0)
    assert (recovery.replayed, store.journal.position) == (3, 3), "nothing has changed"
    store.close()
    store, history, _ = opened(journalling(tmp_path / "data"), wanted(other), None, 0)
    assert [each.query for each in history.engine.subscriptions.values()] == [PAIRS, other]
    store.close()
    changed = Engine()
    changed.add_stream("S", {"k": "int"})
    with pytest.raises(DefinitionError, match="stream 'S' has another definition in the journal"):
        opened(journalling(tmp_path / "data"), changed, None, 0)
    opened(journalling(tmp_path / "data"), wanted(), None, 0)[0].close()


def test_a_configuration_may_add_attributes_that_may_be_null(tmp_path: Path) -> None:
    store, history, _ = opened(journalling(tmp_path / "data"), wanted(PAIRS), None, 0)
    history.engine.publish("S", [1], [("a", 1)])
    store.close()
    longer = Engine()
    longer.add_stream("S", {**history.engine.streams["S"].schema.declared(), "y": "int?", "z": "string?"})
    longer.add_stream("T", {"x": "int"}, time_unit="ms")
    for expected in (3, 0):
        store, history, recovery = opened(journalling(tmp_path / "data"), longer, None, 0)
        assert store.journal.position == recovery.replayed + expected, "a record for each attribute, once"
        assert history.engine.streams["S"].schema == longer.streams["S"].schema
        assert history.engine.streams["T"].time_unit == "ms"
        assert list(history.engine.subscriptions) == [next(iter(wanted(PAIRS).subscriptions))]
        store.close()
    opened(journalling(tmp_path / "data"), wanted(PAIRS), None, 0)[0].close()  # it may know less again
    unit = wanted(PAIRS)
    unit.catalog.streams["S"] = replace(unit.streams["S"], time_unit="s")
    for expected in (1, 0):
        store, history, recovery = opened(journalling(tmp_path / "data"), unit, None, 0)
        assert store.journal.position == recovery.replayed + expected
        assert (history.engine.streams["S"].time_unit, history.engine.streams["S"].added) == ("s", 2)
        store.close()
    other = Engine()
    other.add_stream("S", {**history.engine.streams["S"].schema.declared(), "w": "int"})
    with pytest.raises(DefinitionError, match="stream 'S' has another definition in the journal"):
        opened(journalling(tmp_path / "data"), other, None, 0)


def test_a_model_is_part_of_the_state_and_taken_once(tmp_path: Path) -> None:
    model = write_model(Engine().model())
    for replayed in (0, 2, 2):
        store, history, recovery = opened(journalling(tmp_path / "data"), wanted(), model, 0)
        assert recovery.replayed == replayed
        assert history.model
        store.close()


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    store, _, _ = opened(journalling(tmp_path / "data"), wanted(), None, 0)
    with pytest.raises(Occupied, match=f"process {os.getpid()} works on this folder"):
        opened(journalling(tmp_path / "data"), wanted(), None, 0)
    store.close()
    state = ReplicatedState()
    with pytest.raises(DefinitionError, match="expected a broker's state"):
        state.restore(b"\xc0")
    with pytest.raises(Damaged, match="format 9"):
        state.restore(b"\x95\x09\xc4\x00\x90\xa0\x90")


def test_the_configuration_of_a_journal(tmp_path: Path) -> None:
    text = configuration(Path("data"), 'fsync = "interval"\ninterval = "5 ms"\nretain_age = "2 hour"\nretain_bytes = 9')
    found = read_configuration(text, str(tmp_path / "f.toml"))
    assert found.journal is not None
    assert found.journal.path == tmp_path / "data"
    assert found.journal.durability.label() == "interval 5000us"
    assert (found.journal.durability.retention.age, found.journal.durability.retention.size) == (7_200_000_000, 9)
    assert (found.journal.checkpoint, found.journal.checkpoint_bytes) == ("fork", 16_777_216)
    text = configuration(Path("data"), 'checkpoint = "loop"\ncheckpoint_bytes = 7')
    other = read_configuration(text, "f.toml").journal
    assert other is not None
    assert (other.checkpoint, other.checkpoint_bytes) == ("loop", 7)
    assert check(found).endswith(f", journal in {tmp_path / 'data'}, fsync interval 5000us")
    assert check(ServerConfiguration()).endswith("0 subscriptions")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[journal]\n", "f.toml: journal.path: expected the path of a folder, found none"),
        ('[journal]\npath = "d"\nfsync = "alway"', "f.toml: journal.fsync: expected one of always, interval, os"),
        ('[journal]\npath = "d"\ncheckpoint = "for"', "f.toml: journal.checkpoint: expected one of fork, loop, found"),
        ('[journal]\npath = "d"\nfsnc = 1', "f.toml: unknown key 'journal.fsnc'; did you mean 'fsync'?"),
        ('[journal]\npath = "d"\nsegment_bytes = 0', "f.toml: journal.segment_bytes: expected a whole number"),
        ('[journal]\npath = "d"\nretain_age = "9 y"', "f.toml: journal.retain_age: "),
    ],
)
def test_a_wrong_one_is_one_line(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_configuration(text, "f.toml")
    assert str(caught.value).startswith(reason)


# ---- the gate, on a disk that misbehaves ----


def gated(folder: Path, **more: Any) -> tuple[Store, ReplicatedState, DurabilityGate]:
    store = Store(Folder.made(folder), bytes(16), Durability(growth_bytes=4_096, record_bytes=4_096), 0)
    history = ReplicatedState()
    store.recover(history)
    return store, history, DurabilityGate(store, history, "always", 1, lambda: None)


def test_a_broker_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _, gate = gated(tmp_path / "data")
    real = files._OpenFile.allocate

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files._OpenFile, "allocate", full)

    while (busy := gate.refusal()) is None:
        gate.hold(Effects([], [StreamRemoved("1")] * 9), 0)
    assert re.search(r"the disk is full .*: the broker accepts nothing until there is room", str(busy))
    assert busy.retry > 0
    assert gate.statistics()["refused_full"] == 1
    monkeypatch.setattr(files._OpenFile, "allocate", real)
    assert gate.refusal() is None
    gate.finish()
    store.abandon()


def test_a_broker_without_a_journal_has_no_numbers_of_one() -> None:
    with Broker(Engine(), "tcp://127.0.0.1:0") as broker:
        assert "journal" not in broker._around()


def test_a_state_that_cannot_be_saved_costs_the_checkpoint_and_not_the_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store, _, gate = gated(tmp_path / "data")

    def fail(_: ReplicatedState) -> bytes:
        raise OverflowError("too large")

    monkeypatch.setattr(LOG, "propagate", True)  # whatever log another test has opened
    monkeypatch.setattr(ReplicatedState, "save", fail)
    assert gate.refusal() is None
    gate.hold(Effects([], [StreamDeclared("S", {"x": "int"}, None, "arrival", None, None)]), 0)
    gate.advance(0, True)
    assert "which is a mistake in the broker" in caplog.text
    gate.finish()
    assert store.journal.durable == 1
    gate.close(0, True)
    monkeypatch.undo()
    store, _, gate = gated(tmp_path / "data")
    gate.finish()
    gate.close(0, True)
