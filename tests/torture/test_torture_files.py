"""Damaged files of each kind: a refusal in one line, or an exact prefix. The long form is torture.files."""

from __future__ import annotations

from pathlib import Path

from torture.files import attack

KINDS = 10
FILES = 2 * KINDS


def test_a_damaged_file_is_refused_by_name_or_costs_nothing_that_is_not_told(tmp_path: Path) -> None:
    met = attack(FILES, 1, tmp_path)
    found = {each: times for each, times in met.items() if ": " in each}
    assert sum(found.values()) == FILES
    assert len({each.partition(":")[0] for each in found}) == KINDS
    assert {each.partition(": ")[2] for each in found} >= {"refused", "whole"}
