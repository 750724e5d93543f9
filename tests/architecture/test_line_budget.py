"""How many lines the broker and its parts may have: growth is a cost, and whoever grows a part says so in this table.

Lines are counted as `wc -l` counts those of all `*.py`: blank ones, comments and docstrings are lines, too. Compressing
lines to meet a number is no way out; generalise, or delete what is no longer needed, and lower the number then.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BUDGETS: Final[dict[str, tuple[int, int]]] = {
    "broker": (118_450, -5_370),
    "broker/algebra": (5_870, 540),
    "broker/automaton": (11_104, 1_520),
    "broker/command": (8_790, -120),
    "broker/console": (735, 10),
    "broker/engine": (56_792, -7_950),
    "broker/engine/executors": (40_306, -8_370),
    "broker/events": (3_605, 1_460),
    "broker/forecast": (7_813, -1_070),
    "broker/kernel": (7_043, -20),
    "broker/language": (5_345, 210),
    "broker/server": (6_516, 170),
    "broker/storage": (2_485, 10),
    "broker/wire": (2_176, -80),
}
"""By folder: the lines that it had when the budget was made, and how many more it may have."""


def lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


def complaints(root: Path, budgets: dict[str, tuple[int, int]]) -> list[str]:
    """A sentence for each folder that is over its budget: by how much, and which parts of it grew."""
    found = []
    for folder, (before, more) in budgets.items():
        over = lines(root / folder) - before - more
        if over > 0:
            within = {path.name: f"{folder}/{path.name}" for path in sorted((root / folder).iterdir()) if path.is_dir()}
            grown = {name: lines(root / path) - budgets[path][0] for name, path in within.items() if path in budgets}
            most = sorted((name for name in grown if grown[name] > 0), key=lambda name: (-grown[name], name))
            where = ", ".join(f"{name} grew by {grown[name]:,}" for name in most)
            found.append(
                f"{folder} is over its budget of {before + more:,} lines by {over:,}"
                + (f"; since the budget was made, {where}" if where else "")
            )
    return found


def test_the_broker_keeps_to_its_budget() -> None:
    assert complaints(ROOT, BUDGETS) == []


def test_each_part_has_a_budget_and_they_are_those_of_the_whole() -> None:
    parts = {path.parent for path in (ROOT / "broker").glob("*/__init__.py")}
    assert {f"broker/{path.name}" for path in parts} == {name for name in BUDGETS if name.count("/") == 1}
    own = BUDGETS["broker"][0] - sum(BUDGETS[name][0] for name in BUDGETS if name.count("/") == 1)
    assert own == 176  # of the modules that lie in no part


def test_growth_is_named_with_its_place(tmp_path: Path) -> None:
    for name, text in (("one/a.py", "1\n" * 12), ("two/b/c.py", "1\n" * 30), ("d.py", "1\n"), ("two/notes.md", "\n")):
        (tmp_path / "broker" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "broker" / name).write_text(text)
    budgets = {"broker": (35, 5), "broker/one": (15, 0), "broker/two": (20, 10)}
    assert complaints(tmp_path, budgets) == [
        "broker is over its budget of 40 lines by 3; since the budget was made, two grew by 10"
    ]
    assert complaints(tmp_path, budgets | {"broker": (35, 8), "broker/two": (20, 9)}) == [
        "broker/two is over its budget of 29 lines by 1"
    ]
