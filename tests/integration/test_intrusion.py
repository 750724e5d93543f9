"""Acceptance: P-ToPSS's intrusion (3.2) in a real log of an SSH server, counted and in full, by engine and command.

The truth is counted here, straight from what the subscription says.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import pytest
from doubles.nothing_wrong import NOTHING_WRONG
from integration.pages import ROOT

from broker.engine import Engine
from broker.events import parse_instant

EXAMPLES: Final = ROOT / "examples"
EVENTS, ADDRESSES, TUPLES = 1_489, 106, 396_050
FIVE_MINUTES: Final = 300_000_000
TRACED: Final = 50_000
MEGABYTE: Final = 1_000_000
SUBSCRIPTIONS: Final = """
[streams.Login]
attributes = {{ ip = "string", status = "string" }}

[subscriptions.intrusion]
language = "ptopss"
report = "{report}"
query = '''
FROM Login
s1, s2, s3: ip = $address AND status = 'denied'
s4: ip = $address AND status = 'success'
MATCH s1; s2; s3 @(t(s3) - t(s1) < 5 min); s4
'''
"""


@cache
def logins() -> list[dict[str, Any]]:
    """The events that the example makes of the log."""
    spec = importlib.util.spec_from_file_location("login_events", EXAMPLES / "login_events.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    log = gzip.decompress((EXAMPLES / "data" / "auth.log.gz").read_bytes()).decode()
    return list(module.login_events(log.splitlines(), 2017))


def times() -> list[int]:
    return [parse_instant(event["time"]) for event in logins()]


def truth() -> Iterator[tuple[int, int, int, int]]:
    """The tuples: for each success, all triples of denied logins of its address before it, less than 5 minutes long."""
    when = times()
    denied: dict[str, list[int]] = {}
    for number, event in enumerate(logins()):
        ip, status = event["data"]["ip"], event["data"]["status"]
        before = denied.setdefault(ip, [])
        if status == "denied":
            before.append(number)
        elif status == "success":
            for first, a in enumerate(before):
                for last in range(first + 2, len(before)):
                    if when[before[last]] - when[a] >= FIVE_MINUTES:
                        break
                    for b in before[first + 1 : last]:
                        yield a + 1, b + 1, before[last] + 1, number + 1


def engine(report: str, folder: Path) -> Engine:
    path = folder / "intrusion.toml"
    path.write_text(SUBSCRIPTIONS.format(report=report))
    return Engine.load(path)


def command(report: str, folder: Path) -> list[str]:
    subscriptions, events = folder / "intrusion.toml", folder / "logins.jsonl"
    subscriptions.write_text(SUBSCRIPTIONS.format(report=report))
    events.write_text("".join(json.dumps(event) + "\n" for event in logins()))
    return [sys.executable, "-m", "broker.command", "run", str(subscriptions), "--events", str(events)]


def test_the_log_has_these_events() -> None:
    found = logins()
    assert Counter(event["data"]["status"] for event in found) == {"denied": 1_038, "success": 226, "logoff": 225}
    assert (len(found), len({event["data"]["ip"] for event in found})) == (EVENTS, ADDRESSES)
    assert times() == sorted(times())
    assert sum(1 for _ in truth()) == TUPLES


def test_one_completion_stands_for_all_tuples_and_memory_is_small(tmp_path: Path) -> None:
    found = engine("completions", tmp_path)
    rows = [(event["data"]["ip"], event["data"]["status"]) for event in logins()]
    when = times()
    tracemalloc.start()
    try:
        results = found.publish("Login", when, rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    (match,) = results
    assert match.tuples == TUPLES
    assert not match.incomplete
    assert match.lineage is not None
    assert tuple(match.lineage) in set(truth())
    assert match.bindings == dict(zip(["s1", "s2", "s3", "s4"], ([number] for number in match.lineage), strict=True))
    assert match.data == {"address": rows[match.lineage[0] - 1][0]}
    assert peak < MEGABYTE
    found.check_invariants()


@pytest.mark.slow
def test_all_tuples_stream_out_in_flat_memory(tmp_path: Path) -> None:
    found = engine("all", tmp_path)
    results = found.publish("Login", times(), [(event["data"]["ip"], event["data"]["status"]) for event in logins()])
    assert len(results) == TUPLES
    rest = iter(results)
    count = sum(1 for _ in islice(rest, TUPLES - TRACED))
    tracemalloc.start()  # what each tuple leaves behind would show in these many; tracing all of them takes long
    try:
        count += sum(1 for _ in rest)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == TUPLES
    assert peak < MEGABYTE / 10


def test_the_command_says_how_many_tuples_there_are(tmp_path: Path) -> None:
    done = subprocess.run(command("completions", tmp_path), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, NOTHING_WRONG)
    (result,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert result["tuples"] == TUPLES
    assert tuple(result["lineage"]) in set(truth())


@pytest.mark.slow
@pytest.mark.verify
def test_the_command_writes_each_tuple_once(tmp_path: Path) -> None:
    with subprocess.Popen(command("all", tmp_path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        tuples, ids = written(process.stdout)
    assert process.returncode == 0
    assert len(tuples) == len(set(ids)) == TUPLES
    assert set(tuples) == set(truth())


def written(lines: IO[str]) -> tuple[list[tuple[int, ...]], list[str]]:
    tuples, ids = [], []
    for line in lines:
        result = json.loads(line)
        tuples.append(tuple(result["lineage"]))
        ids.append(result["id"])
    return tuples, ids
