"""What the code cites of the design notes stands in docs/design: the note, and the section in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
NOTES: Final = {note.stem: note.read_text(encoding="utf-8") for note in (ROOT / "docs" / "design").glob("*.md")}
CITED: Final = re.compile(r"\b(semantics|forecasting|design|columns|kleene|P-ToPSS) (?:notes, )?(\d+)(?:\.(\d+))?\b")
ELSEWHERE: Final = ("P-ToPSS",)
"""Also the name of a paper, whose sections are cited by the same words, but for `P-ToPSS notes`."""


def citations() -> list[tuple[str, str, str]]:
    found = {}
    for folder in ("broker", "client", "spark_bridge", "tests", "benchmarks"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for match in CITED.finditer(file.read_text(encoding="utf-8")):
                if match[1] not in ELSEWHERE or "notes" in match[0]:
                    found[match[1], match[2], match[3] or ""] = str(file.relative_to(ROOT))
    return sorted(found)


def test_there_are_citations() -> None:
    assert len(citations()) > 20


@pytest.mark.parametrize(("note", "chapter", "section"), citations(), ids=str)
def test_what_is_cited_is_there(note: str, chapter: str, section: str) -> None:
    text = NOTES["ptopss" if note == "P-ToPSS" else note]
    heading = re.search(rf"^#+ {chapter}\.? (.*?)(?=^#+ {int(chapter) + 1}\.? |\Z)", text, re.MULTILINE | re.DOTALL)
    assert heading is not None, f"{note} has no chapter {chapter}"
    assert not section or re.search(rf"^(#+ {chapter}\.{section} |{section}\. )", heading[1], re.MULTILINE)
