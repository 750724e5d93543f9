"""What of a journal becomes history: events that were withdrawn do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from broker.command.shell import perform
from broker.kernel.records import (
    AttributeAdded,
    BatchTaken,
    Punctuated,
    Record,
    Retracted,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionReplaced,
)
from broker.server.replicated_state import ReplicatedState
from broker.storage import Durability, Folder, Store

RECORDS: list[Record] = [
    StreamDeclared("S", {"x": "int"}, None, "speculate", None, None),
    StreamDeclared("T", {"x": "int"}, None, "arrival", None, None),
    BatchTaken("S", [5, 3], [(1,), (2,)], [1, 2]),
    BatchTaken("T", [6], [(3,)], [1]),
    Retracted([1]),
    BatchTaken("S", [4], [(4,)], [1]),
    Punctuated(9, "S", None),
    BatchTaken("S", [11, 10], [(5,), (6,)], [1, 2]),
    Retracted([2, 1]),
    BatchTaken("S", [12], [(7,)], [1]),
]


def archived(records: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], of: str) -> list[Any]:
    """The lines of the archive of a journal with these records."""
    store = Store(Folder.made(tmp_path / "data"), bytes(16), Durability(), 0)
    store.recover(ReplicatedState())
    for record in records:
        store.append(record, 0)
    store.journal.sync()
    store.close()
    assert perform(["archive", str(tmp_path / "data"), "--out", str(tmp_path / "out.jsonl"), "--format", "jsonl"]) == 0
    assert capsys.readouterr().out.endswith(f"{of}\n")
    return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]


def test_events_that_were_withdrawn_are_no_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = archived(RECORDS, tmp_path, capsys, "4 events of 2 streams")
    assert [(line["stream"], line["id"], line["data"]["x"]) for line in lines] == [
        ("S", 2, 2), ("T", 1, 3), ("S", 1, 4), ("S", 1, 7),
    ]  # fmt: skip


def test_events_before_an_attribute_have_null_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records: list[Record] = [
        StreamDeclared("S", {"x": "int"}, None, "arrival", None, None),
        SubscriptionAdded("s", "cayuga", "S", None, None, None, {}),
        BatchTaken("S", [1], [(1,)], [1]),
        AttributeAdded("S", "y", "int?"),
        SubscriptionReplaced("s", "cayuga", "SELECT y FROM S", False),
        BatchTaken("S", [2, 3], [(2, 5), (3,)], [2, 3]),
        StreamDeclared("T", {"x": "int"}, None, "arrival", None, None),
        StreamRemoved("T"),
    ]
    lines = archived(records, tmp_path, capsys, "3 events of 2 streams")
    assert [line["data"] for line in lines] == [{"x": 1, "y": None}, {"x": 2, "y": 5}, {"x": 3, "y": None}]
