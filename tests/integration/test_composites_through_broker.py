"""Composite subscriptions through a broker process: what is told of them, and that nobody waits for their tuples."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from doubles.broker_process import PATIENCE_SECONDS, ROOT, BrokerProcess, broker_process

from client import Client, DefinitionError, Notification

PAIRS: Final = "FROM S a, b: x = 1 c: x = 2 MATCH a; b; c"
HUGE: Final = "FROM S a1, a2, a3, a4, a5, a6, a7, a8, a9, a10: x = 1 z: x = 2 MATCH " + "; ".join(
    [*(f"a{n}" for n in range(1, 11)), "z"]
)
HUGE_TUPLES: Final = 263_409_560_461_970_212_832_400  # 1,000 choose 10


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        yield broker


def publish(client: Client, xs: list[int]) -> None:
    client.publish_batch("S", range(len(xs)), [(x,) for x in xs])


def taken(notification: Notification | None) -> Notification:
    assert notification is not None
    return notification


def test_tuples_are_told_one_by_one_or_counted(broker: BrokerProcess) -> None:
    with Client(broker.address) as client:
        every = client.subscribe("every", "ptopss", PAIRS, report="all")
        counted = client.subscribe("counted", "ptopss", PAIRS, report="completions")
        bare = client.subscribe("bare", "ptopss", PAIRS, lineage=False)
        joined = client.subscribe("joined", "ptopss", "FROM S a: x = $v b: x = $v MATCH a, b", report="completions")
        publish(client, [1, 1, 1, 2])
        found = [taken(every.next(60)) for _ in range(3)]
        assert {tuple(match.lineage or ()) for match in found} == {(1, 2, 4), (1, 3, 4), (2, 3, 4)}
        for match in found:
            assert match.lineage is not None
            assert match.bindings == dict(zip("abc", ([number] for number in match.lineage)))
            assert (match.tuples, match.incomplete, match.end) == (None, False, 3)
        assert every.poll() is None
        completion = taken(counted.next(60))
        assert (completion.tuples, completion.incomplete) == (3, False)
        assert completion.bindings in [match.bindings for match in found]
        assert counted.poll() is None
        assert taken(bare.next(60)).bindings is None
        assert [taken(joined.next(60)).data for _ in range(2)] == [{"v": 1}, {"v": 1}]


def test_a_number_of_tuples_beyond_64_bits_arrives(broker: BrokerProcess) -> None:
    with Client(broker.address) as client, Client(broker.address) as other:
        counted = client.subscribe("counted", "ptopss", HUGE, report="completions")
        endless = other.subscribe("endless", "ptopss", HUGE, report="all", window=500)
        started = time.monotonic()
        publish(client, [1] * 1_000 + [2])
        completion = taken(counted.next(60))
        assert completion.tuples == HUGE_TUPLES
        assert [len(ids) for ids in (completion.bindings or {}).values()] == [1] * 11
        for _ in range(2_000):
            assert len(taken(endless.next(60)).bindings or {}) == 11
        assert client.statistics()["broker"]["notifications_queued"] == 2**63 - 1
        endless.close()
        assert client.statistics()["broker"]["notifications_queued"] == 0
        assert time.monotonic() - started < PATIENCE_SECONDS


def test_what_the_configuration_asks_for_can_be_attached_to(tmp_path: Path) -> None:
    (tmp_path / "subs.toml").write_text(
        '[streams.S]\nattributes = { x = "int" }\n'
        f'[subscriptions.counted]\nlanguage = "ptopss"\nreport = "completions"\nquery = "{PAIRS}"\n'
        f'[subscriptions.every]\nlanguage = "ptopss"\nquery = "{PAIRS}"\n'
    )
    with (
        broker_process('subscriptions = "subs.toml"\n', str(tmp_path / "foretell.toml")) as broker,
        Client(broker.address) as client,
    ):
        for query in (PAIRS, None):
            with pytest.raises(DefinitionError, match="another report: expected completions, found all"):
                client.subscribe("counted", "ptopss", query, report="all")
            with pytest.raises(DefinitionError, match="another lineage: expected true, found false"):
                client.subscribe("counted", "ptopss", query, lineage=False, report="completions")
        counted = client.subscribe("counted", "ptopss", PAIRS, lineage=True, report="completions")
        every = client.subscribe("every", "ptopss", PAIRS, report="all")
        assert counted.attached
        assert every.attached
        publish(client, [1, 1, 1, 2])
        assert taken(counted.next(60)).tuples == 3
        assert [taken(every.next(60)).tuples for _ in range(3)] == [None] * 3


def test_the_shell_subscribes_with_a_report(broker: BrokerProcess, tmp_path: Path) -> None:
    file = tmp_path / "subs.toml"
    file.write_text(
        '[streams.S]\nattributes = { x = "int" }\n'
        f'[subscriptions.filed]\nlanguage = "ptopss"\nreport = "completions"\nquery = "{PAIRS}"\n'
    )
    text = ("--language", "ptopss", "--query", PAIRS)
    asked = {
        ("filed", "--file", str(file)): 1,
        ("counted", *text, "--report", "completions"): 1,
        ("every", *text, "--report", "all"): 3,
        ("default", *text): 3,
    }
    processes: list[subprocess.Popen[str]] = []
    try:
        for arguments, count in asked.items():
            command = ["subscribe", *arguments, "--count", str(count), "--timeout", "20", "--broker", broker.address]
            process = subprocess.Popen(
                [sys.executable, "-m", "broker.command", *command],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
            assert process.stderr is not None
            assert process.stderr.readline() == f"subscribed to {arguments[0]}\n"
        other = ["subscribe", "filed", "--file", str(file), "--report", "all", "--broker", broker.address]
        refused = subprocess.run(
            [sys.executable, "-m", "broker.command", *other], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert refused.returncode == 2
        assert refused.stderr == (
            f"foretell: {file}: subscription 'filed' exists with another report: expected completions, found all\n"
        )
        with Client(broker.address) as client:
            publish(client, [1, 1, 1, 2])
        for process, count in zip(processes, asked.values()):
            lines = [json.loads(line) for line in process.communicate(timeout=PATIENCE_SECONDS)[0].splitlines()]
            assert [line.get("tuples") for line in lines] == ([3] if count == 1 else [None] * 3)
            assert all(list(line["bindings"]) == ["a", "b", "c"] for line in lines)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
