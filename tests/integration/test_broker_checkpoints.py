"""A real broker whose checkpoints are made by a copy of its process: it goes on meanwhile, and nothing is left of the
copy, whoever of the two is killed, or told to stop, and when.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from doubles.broker_process import ROOT, BrokerProcess, broker_process, python_process
from doubles.process_gauges import children, comes_true, open_files

from client import Client

PATIENCE = 60
PAIRS = "SELECT * FROM S NEXT{$1.k = $2.k} S"
DECLARED = f"""
[streams.S]
attributes = {{ k = "string", x = "int" }}
[subscriptions.pairs]
language = "cayuga"
query = "{PAIRS}"
"""
CHECKPOINTS = 25

# A broker whose copies wait before they save, as long as there is a file of this name.
HELD = """
    import os, sys, time
    from pathlib import Path
    from broker.server import read_configuration, serve
    from broker.server.replicated_state import ReplicatedState

    save, process, name = ReplicatedState.save, os.getpid(), Path(sys.argv[2])

    def waiting(history):
        while os.getpid() != process and name.exists():
            time.sleep(0.01)
        return save(history)

    ReplicatedState.save = waiting
    serve(read_configuration(sys.argv[1], "foretell.toml"), lambda line: print(line, flush=True))
"""


def configuration(folder: Path, more: str = "") -> str:
    (folder / "pairs.toml").write_text(DECLARED)
    return (
        f'address = "tcp://127.0.0.1:0"\nsubscriptions = "{folder}/pairs.toml"\n'
        f'[journal]\npath = "{folder}/data"\ncheckpoint_bytes = 300\n{more}\n'
    )


@contextmanager
def held_broker(folder: Path) -> Iterator[BrokerProcess]:
    (folder / "held").touch()
    with python_process(HELD, configuration(folder), str(folder / "held")) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on "), line or process.communicate()[1]
        yield BrokerProcess(process, line.removeprefix("listening on ").strip())


def publish(client: Client, first: int, batches: int = 1) -> None:
    for number in range(first, first + batches):
        times = [10 * number + index for index in range(9)]
        assert client.publish_batch("S", times, [("abc"[time % 3], time) for time in times]).count == 9


def saving(broker: BrokerProcess) -> int:
    """Its copy's number, once there is one."""
    found: list[int] = []

    def looked_at() -> bool:
        found[:] = children(broker.process.pid)
        return bool(found)

    assert comes_true(looked_at)
    (copy,) = found
    return copy


def copying(broker: BrokerProcess) -> int:
    """A few batches, and the number of the copy that is held at work on their checkpoint."""
    with Client(broker.address, PATIENCE) as client:
        publish(client, 0, 5)
        return saving(broker)


def journal(client: Client, name: str) -> int:
    return int(client.statistics()["journal"][name])


def examined(folder: Path) -> str:
    """What `foretell fsck` says of a journal in which nothing is wrong."""
    command = [sys.executable, "-m", "broker.command", "fsck", str(folder / "data")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def goes_on(folder: Path, batch: int) -> None:
    """A broker comes back with all that has begun."""
    with broker_process(configuration(folder)) as broker, Client(broker.address, PATIENCE) as client:
        subscription = client.subscribe("pairs", query=PAIRS)
        assert subscription.attached
        publish(client, batch)
        found = subscription.next(PATIENCE)
        assert found is not None
        assert found.id is not None
        assert client.statistics()["engine"]["events"] == 9 * (batch + 1)


@pytest.mark.parametrize("way", ["fork", "loop"])
def test_many_checkpoints_under_load_leave_nothing_behind(tmp_path: Path, way: str) -> None:
    with broker_process(configuration(tmp_path, f'checkpoint = "{way}"')) as broker:
        process = broker.process.pid
        with Client(broker.address, PATIENCE) as client:
            publish(client, 0, 5)
            number, files, seen = 5, 0, set[int]()

            def load() -> bool:
                nonlocal number, files
                publish(client, number)
                number += 1
                now = children(process)
                assert len(now) <= 1, "one at a time"
                seen.update(now)
                made = journal(client, "checkpoints_made")
                if made <= CHECKPOINTS // 5:
                    files = max(files, open_files(process))
                return made >= CHECKPOINTS

            assert comes_true(load, 3 * PATIENCE)  # on whatever disk
            assert bool(seen) == (way == "fork")
            assert journal(client, "checkpoints_refused") == 0
            assert comes_true(lambda: children(process) == [] and open_files(process) <= files)
        broker.process.terminate()
        assert broker.process.communicate(timeout=PATIENCE)[1] == ""
        assert broker.process.returncode == 0
    assert "checkpoint" in examined(tmp_path)
    goes_on(tmp_path, number)


def test_while_a_copy_is_at_work_the_broker_serves(tmp_path: Path) -> None:
    with held_broker(tmp_path) as broker, Client(broker.address, PATIENCE) as client:
        publish(client, 0, 5)
        copy = saving(broker)
        subscription = client.subscribe("others", query="SELECT * FROM S")
        publish(client, 5, 20)
        assert subscription.next(PATIENCE) is not None
        assert children(broker.process.pid) == [copy]
        assert journal(client, "checkpoints_made") == 0
        (tmp_path / "held").unlink()
        assert comes_true(lambda: journal(client, "checkpoints_made") >= 1)


def test_a_broker_that_is_killed_takes_its_copy_along(tmp_path: Path) -> None:
    with held_broker(tmp_path) as broker:
        copy = copying(broker)
        broker.process.kill()
        broker.process.wait()
        assert comes_true(lambda: not Path(f"/proc/{copy}").exists())
    assert "checkpoint" not in examined(tmp_path)
    goes_on(tmp_path, 5)
    examined(tmp_path)


def test_a_copy_that_is_killed_costs_this_checkpoint_only(tmp_path: Path) -> None:
    with held_broker(tmp_path) as broker:
        with Client(broker.address, PATIENCE) as client:
            publish(client, 0, 5)
            os.kill(saving(broker), signal.SIGKILL)
            assert comes_true(lambda: journal(client, "checkpoints_refused") == 1)
            (tmp_path / "held").unlink()
            publish(client, 5, 5)
            assert comes_true(lambda: journal(client, "checkpoints_made") >= 1)
        broker.process.terminate()
        said = broker.process.communicate(timeout=PATIENCE)[1]
        assert broker.process.returncode == 0
        assert "warning no checkpoint" in said
        assert "was ended by signal 9 (Killed)" in said
        assert said.count("\n") == 1
    examined(tmp_path)
    goes_on(tmp_path, 10)


def test_a_broker_that_is_told_to_stop_does_not_wait_for_its_copy(tmp_path: Path) -> None:
    with held_broker(tmp_path) as broker:
        copy = copying(broker)
        broker.process.terminate()
        assert broker.process.communicate(timeout=PATIENCE)[1] == ""
        assert broker.process.returncode == 0
        assert not Path(f"/proc/{copy}").exists()
    assert (tmp_path / "held").exists()
    assert "checkpoint" in examined(tmp_path)
    goes_on(tmp_path, 5)
