"""A copy of the process: what it hands over, what it leaves alone, and that nothing is left of it, however it ends."""

from __future__ import annotations

import gc
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from doubles.broker_process import python_process
from doubles.process_gauges import children, comes_true, open_files

from broker.server import forking
from broker.server.forking import CopyFailed, Forked

LONG = 300.0


def asleep() -> Iterable[bytes]:
    time.sleep(LONG)
    return ()


def read(copy: Forked) -> bytes:
    with copy.result() as file:
        return file.readall()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    before, there = open_files(os.getpid()), children(os.getpid())
    yield
    assert set(children(os.getpid())) <= set(there)
    assert comes_true(lambda: open_files(os.getpid()) <= before)


def test_it_has_the_memory_of_its_moment_and_goes_on_beside_its_parent() -> None:
    numbers = [1, 2, 3]

    def told() -> Iterator[bytes]:
        time.sleep(0.2)
        yield b"%d" % sum(numbers)
        yield b""
        yield b" and " + b"x" * 3_000_000

    copy = Forked(told)
    numbers.append(4)
    assert read(copy) == b"6 and " + b"x" * 3_000_000
    assert sum(numbers) == 10


def test_what_goes_wrong_there_is_told_in_one_line() -> None:
    def fail() -> Iterable[bytes]:
        yield b"begun"
        raise OverflowError("too\nlarge " + "!" * 5_000)

    def exhausted() -> Iterable[bytes]:
        raise MemoryError

    def left() -> Iterable[bytes]:
        raise SystemExit("leave")

    with pytest.raises(CopyFailed, match=r"^OverflowError: too large !+$") as failed:
        read(Forked(fail))
    assert len(str(failed.value)) <= 1_000
    with pytest.raises(CopyFailed, match=r"^MemoryError: , at .*test_server_forking.py:\d+$"):
        read(Forked(exhausted))
    with pytest.raises(CopyFailed, match=r"^SystemExit: leave"):
        read(Forked(left))


def test_one_that_is_killed_is_told_by_the_signal() -> None:
    copy = Forked(asleep)
    os.kill(copy.process, signal.SIGKILL)
    with pytest.raises(CopyFailed, match=r"ended by signal 9 \(Killed\)"):
        copy.result()


def test_one_that_is_not_wanted_any_more_ends_at_once() -> None:
    copy = Forked(asleep)
    copy.discard()
    copy.discard()
    with pytest.raises(CopyFailed, match="was discarded"):
        copy.result()
    ready = Forked(lambda: [b"ready"])
    assert read(ready) == b"ready"
    ready.discard()


def test_it_is_discarded_beside_somebody_who_waits() -> None:
    copy = Forked(asleep)
    told: list[str] = []

    def wait() -> None:
        try:
            copy.result()
        except CopyFailed as error:
            told.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.05)
    copy.discard()
    waiting.join(60)
    assert told == ["the copy of the process was ended by signal 9 (Killed)"]


def test_one_that_takes_too_long_is_ended_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "COPY_SECONDS_MAX", 0.2)
    with pytest.raises(CopyFailed, match=r"the copy of the process took longer than 0\.2 s \(COPY_SECONDS_MAX\)"):
        Forked(asleep).result()


def test_one_that_takes_too_long_ends_though_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "COPY_SECONDS_MAX", 0.2)
    copy = Forked(asleep)
    os.waitid(os.P_PID, copy.process, os.WEXITED | os.WNOWAIT)
    with pytest.raises(CopyFailed, match="took longer"):
        copy.result()


def test_one_that_the_system_would_not_end_with_its_parent_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "_prctl", lambda: lambda *_: -1)
    with pytest.raises(CopyFailed, match="the system cannot end the copy with its parent"):
        Forked(lambda: [b"made"]).result()


def test_it_holds_no_file_but_its_own(tmp_path: Path) -> None:
    with (tmp_path / "there").open("w"):
        names = read(Forked(lambda: [" ".join(os.listdir("/proc/self/fd")).encode()])).split()
    assert len(names) == 3, names  # standard error, what it writes, and the listing's
    assert b"2" in names


def test_signals_for_it_neither_end_it_nor_wake_its_parent(tmp_path: Path) -> None:
    going = tmp_path / "going"
    going.touch()

    def told() -> Iterator[bytes]:
        while going.exists():
            time.sleep(0.01)
        yield b"still there"

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    os.set_blocking(reader, False)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    wake = signal.set_wakeup_fd(writer)
    try:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        copy = Forked(told)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(copy.process, number)
        going.unlink()
        assert read(copy) == b"still there"
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
        os.kill(os.getpid(), signal.SIGTERM)  # the parent still hears its own
        assert select.select([reader], [], [], 60)[0]
        assert os.read(reader, 1) == bytes([signal.SIGTERM])
    finally:
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGTERM, before)
        os.close(reader)
        os.close(writer)


def test_it_may_be_forked_by_any_thread() -> None:
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(read(Forked(lambda: [b"from a thread"]))))
    thread.start()
    thread.join(60)
    assert found == [b"from a thread"]


def test_it_ends_with_its_parent_and_runs_nothing_of_its_parents_end(tmp_path: Path) -> None:
    program = """
        import atexit, sys, threading, time
        from pathlib import Path
        from broker.server.forking import Forked

        atexit.register(lambda: Path(sys.argv[1]).touch())
        threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
        with Forked(lambda: [b"made"]).result() as file:
            assert file.readall() == b"made"
        try:
            copy = Forked(lambda: time.sleep(300) or ())
        finally:
            print(copy.process, flush=True)
        time.sleep(300)
    """
    with python_process(program, str(tmp_path / "left")) as parent:
        assert parent.stdout is not None
        line = parent.stdout.readline()
        assert line, parent.communicate()[1]
        process = int(line)
        assert children(parent.pid) == [process]
        parent.kill()
        parent.wait()
        assert comes_true(lambda: not Path(f"/proc/{process}").exists())
    assert not (tmp_path / "left").exists()


def test_pythons_warning_of_threads_is_expected_here_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"This process (pid={os.getpid()}) is multi-threaded, use of fork() may lead to deadlocks in the child."
    fork = os.fork

    def warning_fork() -> int:  # as from Python 3.12 on, in the parent
        process = fork()
        if process:
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        return process

    monkeypatch.setattr(os, "fork", warning_fork)
    assert [read(Forked(lambda: [b"made"])) for _ in range(3)] == [b"made"] * 3
    with pytest.raises(DeprecationWarning, match="multi-threaded"):
        warnings.warn(text, DeprecationWarning, stacklevel=1)


def test_where_there_is_no_process_for_it_nothing_has_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", full)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(OSError, match="temporarily unavailable"):
        Forked(asleep)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask


def test_a_system_may_have_no_way_to_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert forking.possible()
    monkeypatch.delattr(os, "memfd_create")
    assert not forking.possible()
