"""Executors and languages are named by their own folders and by two tables, not by what runs and saves all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architecture.test_languages import ORDINARY as WORDS

from broker.engine.languages.table import LANGUAGES
from broker.engine.planner import EXECUTORS, MERGED, TABLE

ENGINE = Path(__file__).parents[2] / "broker" / "engine"
FOLDERS = sorted(path.name for path in (ENGINE / "executors").iterdir() if (path / "__init__.py").exists())
SHARED = {"window_families": "windows"}  # they have panes, measures and pages in common
ORDINARY = {*WORDS, "reference", "windows"}  # words that say other things, too
NAMES = [name for name in (*FOLDERS, *LANGUAGES) if name not in ORDINARY]
NAMED = re.compile(rf"(?<![a-z])(?:{'|'.join(NAMES)}|keyed runs?|kleenes?|composites?|tries?)(?![a-z])", re.IGNORECASE)
PLACES = ("dispatch", "inspection", "program", "snapshot", "subscribing", "engine.py", "results.py")
NEUTRAL = [
    path
    for place in PLACES
    for path in ([ENGINE / place] if place.endswith(".py") else sorted((ENGINE / place).glob("*.py")))
]


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ENGINE))) for path in NEUTRAL])
def test_no_executor_and_no_language_is_named(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if NAMED.search(line.replace("P-ToPSS", ""))] == []


def test_every_folder_has_a_machine_and_its_plan() -> None:
    """But that of the merged program, whose runs have no machine."""
    for folder in FOLDERS:
        assert (ENGINE / "executors" / folder / "machine_plan.py").exists()
        assert (ENGINE / "executors" / folder / "machine.py").exists() == (folder != MERGED.executor)


def test_every_executor_is_in_the_table_under_the_name_of_its_folder() -> None:
    assert {SHARED.get(row.plan.executor, row.plan.executor) for row in TABLE} <= set(FOLDERS)
    assert len({row.plan.executor for row in TABLE}) == len(TABLE)
    assert [row.plan for row in TABLE if row.plan.merged] == [MERGED]
    figures = [name for plan in EXECUTORS for name in plan.figures]
    assert len(set(figures)) == len(figures)
