"""A journal that an earlier version has written is read or refused in words, and matches go on with the same ids."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from doubles.small_journal import BATCHES, after_checkpoint, batches, before_checkpoint

from broker.events import ForetellError
from broker.kernel import Record
from broker.kernel.records import BatchTaken
from broker.server.replicated_state import ReplicatedState
from broker.storage import Durability, Folder, Recovery, Store

DATA = Path(__file__).parents[2] / "data"
FOLDERS = sorted(DATA.glob("journal_*"))
SIZE_MAX = 200_000


def uninterrupted() -> ReplicatedState:
    """A broker of today that has seen the same and never ended."""
    state = ReplicatedState()
    for position, record in enumerate([*before_checkpoint(), *after_checkpoint()], 1):
        state.replay(position, 0, record)
    return state


def recovered(folder: Path) -> tuple[ReplicatedState, Recovery]:
    state = ReplicatedState()
    store = Store(Folder.made(folder), bytes(16), Durability(), 0)
    try:
        return state, store.recover(state)
    finally:
        store.abandon()


def found(state: ReplicatedState, record: Record) -> list[dict[str, Any]]:
    assert isinstance(record, BatchTaken)
    results = state.engine.publish(
        record.stream, record.times, cast("list[tuple[Any, ...]]", record.rows), record.ids, record.starts
    )
    return [result.line() for result in results]


def check_that_both_go_on_equally(state: ReplicatedState) -> None:
    expected = uninterrupted()
    (cursor,), (known,) = state.cursors, expected.cursors
    assert list(cursor.results) == list(known.results)
    assert (cursor.first, cursor.acknowledged, cursor.aside) == (known.first, known.acknowledged, known.aside)
    kinds: set[tuple[str, str]] = set()
    for batch in batches(BATCHES, 20):
        lines = found(expected, batch)
        assert found(state, batch) == lines
        kinds.update((line["subscription"], line["kind"]) for line in lines)
    assert {name for name, _ in kinds} == {"pairs", "later", "rising"}
    assert {kind for _, kind in kinds} > {"match"}, "forecasts as well"


@pytest.mark.parametrize("earlier", FOLDERS, ids=lambda folder: folder.name)
def test_a_checkpoint_of_an_earlier_version_is_read_or_refused_with_both_formats(earlier: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(earlier, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refusal = ""
    try:
        state, recovery = recovered(folder)
    except ForetellError as error:
        refusal = str(error)
    if refusal:
        assert re.search(r"format \d+, found format \d+", refusal), refusal
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"} == before
        return
    assert recovery.checkpoint > 0
    assert recovery.replayed > 0
    check_that_both_go_on_equally(state)


@pytest.mark.parametrize("earlier", FOLDERS, ids=lambda folder: folder.name)
def test_the_journal_of_an_earlier_version_makes_the_state_anew_without_its_checkpoints(
    earlier: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(earlier, folder, ignore=shutil.ignore_patterns("*.checkpoint"))
    state, recovery = recovered(folder)
    assert recovery.checkpoint == 0
    check_that_both_go_on_equally(state)


def test_there_are_journals_of_earlier_versions_and_they_are_small() -> None:
    assert FOLDERS
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir()) < SIZE_MAX
    for folder in FOLDERS:
        assert len(list(folder.glob("*.journal"))) > 1
        assert len(list(folder.glob("*.checkpoint"))) == 1
