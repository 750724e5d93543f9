"""A state saved by a copy of the process is the state of that moment, whatever the loop does meanwhile."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import python_process
from doubles.process_gauges import children, comes_true
from doubles.small_journal import batches, beginning

from broker.kernel import Effects, Record
from broker.kernel.records import BatchTaken, CursorMoved
from broker.server.durability_gate import DurabilityGate
from broker.server.logs import LOG
from broker.server.replicated_state import ReplicatedState, digest_of
from broker.server.saving import InCopy, InLoop, Saved, Saving, saving
from broker.storage import Durability, Folder, Store
from broker.storage.checkpoint import Checkpoint, checkpoints, read


class Life:
    """A gate and the state behind it, from where the folder has got to."""

    def __init__(self, folder: Path, way: Saving, checkpoint_bytes: int = 1) -> None:
        self.store = Store(Folder.made(folder), bytes(16), Durability(growth_bytes=4_096, record_bytes=4_096), 0)
        self.history = ReplicatedState()
        self.recovery = self.store.recover(self.history)
        self.gate = DurabilityGate(self.store, self.history, "always", checkpoint_bytes, lambda: None, saving=way)

    def take(self, *records: Record) -> None:
        for record in records:
            assert self.gate.refusal() is None
            self.history.replay(self.store.journal.position + 1, 0, record)
            self.gate.hold(Effects([], [record]), 0)

    def number(self, name: str) -> Any:
        return self.gate.statistics()[name]

    def goes_on_until(self, condition: Callable[[], bool]) -> bool:
        def looked_at() -> bool:
            self.gate.advance(0, True)
            return condition()

        return comes_true(looked_at)

    def end(self) -> None:
        self.gate.abandon()


def linked(descriptor: str) -> str:
    """What is open under this number; of what a copy writes to `/memfd:foretell`."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""  # the listing's own


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While there is a file of this name, a copy of the process waits before it saves."""
    save, process, name = ReplicatedState.save, os.getpid(), tmp_path / "held"

    def waiting(history: ReplicatedState) -> bytes:
        while os.getpid() != process and name.exists():
            time.sleep(0.01)
        return save(history)

    monkeypatch.setattr(ReplicatedState, "save", waiting)
    name.touch()
    return name


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(LOG, "propagate", True)  # whatever log another test has opened
    return caplog


def test_both_ways_give_the_same_bytes_of_the_same_moment(held: Path) -> None:
    history = ReplicatedState()
    for position, record in enumerate([*beginning(), *batches(0, 20)], 1):
        history.replay(position, 0, record)
    copied = InCopy().begin(history)
    at_once = InLoop().begin(history)
    assert (copied.beside, at_once.beside) == (True, False)
    later = [*batches(20, 20), CursorMoved("mine", 3)]
    for position, record in enumerate(later, 26):
        history.replay(position, 0, record)
    held.unlink()
    assert copied.take() == at_once.take()
    changed, now = InCopy().begin(history).take(), InLoop().begin(history).take()
    assert changed == now
    assert now[0] == history.digest() == digest_of(now[1])


def test_with_a_checkpoint_that_was_made_beside_it_a_state_comes_back_and_goes_on_equally(
    tmp_path: Path, held: Path
) -> None:
    life = Life(tmp_path / "data", InCopy())
    life.take(*beginning(), *batches(0, 30))
    moment = life.store.journal.position
    digest = life.history.digest()
    life.gate.advance(0, True)
    (copy,) = children(os.getpid())
    for record in batches(30, 30):
        life.take(record)
        life.gate.advance(0, True)
    assert children(os.getpid()) == [copy], "one at a time"
    assert life.goes_on_until(lambda: life.store.journal.durable == moment + 30)
    assert (life.number("checkpoints_made"), life.number("checkpoint")) == (0, 0)
    held.unlink()
    assert life.goes_on_until(lambda: life.number("checkpoints_made") == 1)
    (position, name), *_ = checkpoints(Folder(tmp_path / "data"))
    made = read(Folder(tmp_path / "data"), name)
    assert isinstance(made, Checkpoint)
    assert (position, made.digest) == (moment, digest)
    life.end()

    again = Life(tmp_path / "data", InCopy())
    assert (again.recovery.checkpoint, again.recovery.replayed) == (moment, 30)
    assert again.history.digest() == life.history.digest()
    found = 0
    for record in batches(60, 10):
        assert isinstance(record, BatchTaken)
        rows: list[Any] = list(record.rows)
        lines, expected = (
            [each.line() for each in state.history.engine.publish("S", record.times, rows, record.ids)]
            for state in (again, life)
        )
        assert lines == expected
        found += len(lines)
    assert found > 0
    again.end()


def test_a_copy_that_fails_costs_this_checkpoint_only(
    tmp_path: Path, held: Path, log: pytest.LogCaptureFixture
) -> None:
    life = Life(tmp_path / "data", InCopy())
    life.take(*beginning())
    life.gate.advance(0, True)
    (copy,) = children(os.getpid())
    os.kill(copy, signal.SIGKILL)
    assert life.goes_on_until(lambda: life.number("checkpoints_refused") == 1)
    assert [record.getMessage() for record in log.records] == ["no checkpoint"]
    assert "signal 9" in str(vars(log.records[0]))
    assert children(os.getpid()) == []
    held.unlink()
    life.take(*batches(0, 1))
    assert life.goes_on_until(lambda: life.number("checkpoints_made") == 1)
    life.end()


def test_a_mistake_in_the_copy_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    def fail(_: ReplicatedState) -> bytes:
        raise OverflowError("too large")

    life = Life(tmp_path / "data", InCopy())
    life.take(*beginning())
    with monkeypatch.context() as within:
        within.setattr(ReplicatedState, "save", fail)
        assert life.goes_on_until(lambda: life.number("checkpoints_refused") == 1)
    assert "OverflowError: too large, at " in str(vars(log.records[0]))
    life.gate.finish()
    life.gate.close(0, True)
    assert Life(tmp_path / "data", InCopy()).recovery.replayed == 0


@pytest.mark.parametrize("orderly", [True, False])
def test_an_end_does_not_wait_for_a_copy(tmp_path: Path, held: Path, orderly: bool) -> None:
    for synced in (True, False):
        life = Life(tmp_path / f"data {synced}", InCopy())
        life.take(*beginning(), *batches(0, 3))
        life.gate.advance(0, True)
        assert len(children(os.getpid())) == 1
        if synced:  # then somebody waits for it
            life.store.journal.sync()
            life.gate.advance(0, True)
        if orderly:
            life.gate.finish()
            assert children(os.getpid()) == []
            life.gate.close(0, True)
            again = Life(tmp_path / f"data {synced}", InCopy())
            assert again.recovery.replayed == 0
            again.end()
        else:
            life.end()
        assert children(os.getpid()) == []
    assert held.exists()
    assert not [name for name in os.listdir("/proc/self/fd") if linked(name).startswith("/memfd:foretell")]


def test_where_there_is_no_process_for_it_the_loop_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> int:
        raise OSError(12, "Cannot allocate memory")

    life = Life(tmp_path / "data", InCopy())
    for number, name in enumerate(("fork", "memfd_create"), 1):
        with monkeypatch.context() as within:
            within.setattr(os, name, full)
            life.take(*(beginning() if number == 1 else batches(0, 1)))
            assert life.goes_on_until(lambda at=number: life.number("checkpoints_made") == at)  # type: ignore[misc]
    assert [record.getMessage() for record in log.records] == ["no process for a checkpoint, made in the loop"] * 2
    assert {record.levelno for record in log.records} == {logging.WARNING}
    life.end()


def test_a_copy_is_made_where_it_is_asked_for_and_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(saving("fork"), InCopy)
    assert isinstance(saving("loop"), InLoop)
    monkeypatch.delattr(os, "memfd_create")
    assert isinstance(saving("fork"), InLoop)


@pytest.mark.parametrize(("took", "due"), [(0.0, 1_021.0), (100.0, 1_202.0)])
def test_after_a_copy_the_next_one_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took: float, due: float
) -> None:
    """Twenty times as long as the loop stood still, here for a second; at least as long as all of it took."""

    class Clock:
        now = 1_000.0

        @classmethod
        def monotonic(cls) -> float:
            return cls.now

    class Slow:
        def begin(self, history: ReplicatedState) -> Saved:
            copy = InCopy().begin(history)
            Clock.now += 1
            return copy

    monkeypatch.setattr("broker.server.checkpointing.time", Clock)
    life = Life(tmp_path / "data", Slow())
    life.take(*beginning())
    life.gate.advance(0, True)
    Clock.now += took
    assert life.goes_on_until(lambda: life.number("checkpoints_made") == 1)
    life.take(*batches(0, 1))
    Clock.now = due - 0.1
    life.gate.advance(0, True)
    assert children(os.getpid()) == []
    Clock.now = due
    life.gate.advance(0, True)
    assert len(children(os.getpid())) == 1
    life.end()


def test_nothing_is_loaded_while_a_state_is_saved() -> None:
    """A copy must not: another thread may have been loading something when it was made."""
    program = """
        import sys
        sys.path.insert(0, "tests/unit/server")
        from test_server_saving import batches, beginning
        from broker.server.replicated_state import ReplicatedState
        from broker.server.saving import InLoop

        history = ReplicatedState()
        for position, record in enumerate([*beginning(), *batches(0, 20)], 1):
            history.replay(position, 0, record)
        before = set(sys.modules)
        InLoop().begin(history).take()
        print(sorted(set(sys.modules) - before))
    """
    with python_process(program) as process:
        said, complaints = process.communicate(timeout=60)
    assert (said, complaints) == ("[]\n", "")
