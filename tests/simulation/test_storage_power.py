"""Losses of power, killed processes, failing syncs and full disks, from seeds: nothing that was told is lost."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from simulation.storage_backups import back_up
from simulation.storage_lives import History

import broker.storage
from broker.storage import StorageError

STORAGE = Path(broker.storage.__file__).parent
HISTORIES = 4 * settings().max_examples
"""200, or 2,000 under `verify`; storage_torture goes on for as long as it is told."""

SEEDS_MAX = 10_000
"""How many histories may go well with a sync left out before the test says that nobody misses it."""

SYNCING = ("sync", "finish", "sync_folder")
BACKUPS = ("copying.py", "mark.py")
"""Where syncs are of backups, too, or of these alone."""

REAL = "files.py"
"""The real disk itself, which no simulation goes through."""


def test_nothing_that_was_told_is_lost() -> None:
    met: Counter[str] = Counter()
    for seed in range(HISTORIES):
        history = History(seed)
        try:
            history.run()
        except BaseException as error:
            error.add_note(f"seed {seed}, {history.settings}")
            raise
        met.update(history.events)
    expected = {
        "records", "started", "cut", "from a checkpoint", "checkpoints", "removed", "full", "full at the start",
        "failed", "closed", "power lost", "power lost within",
    }  # fmt: skip
    assert {event for event, count in met.items() if count} == expected


def sites() -> list[tuple[str, int]]:
    """Every line of broker/storage that calls a sync, but for where the real disk is behind it."""
    found: set[tuple[str, int]] = set()
    for path in sorted(STORAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr=name)) if name in SYNCING and path.name != REAL:
                    found.add((path.name, node.lineno))
                case _:
                    pass
    return sorted(found)


def test_there_are_syncs_to_leave_out() -> None:
    assert len(sites()) >= 12


@pytest.mark.parametrize("site", sites(), ids=lambda site: f"{site[0]}:{site[1]}")
def test_every_sync_is_missed_when_it_is_left_out(site: tuple[str, int]) -> None:
    for seed in range(SEEDS_MAX):
        history = History(seed, skipped=site)
        try:
            if site[0] in BACKUPS:
                back_up(seed, skipped=site)
            if site[0] != "copying.py":
                history.run()
        except (AssertionError, StorageError):
            return
    pytest.fail(f"{site[0]}, line {site[1]}: {SEEDS_MAX:,} histories go well without this sync")
