"""Tables of pages are drawn alike by GitHub and by the site."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def test_no_table_has_a_backslash_before_a_bar() -> None:
    """The site shows the backslash in code; `<code>` with &#124; is a bar on both."""
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
    wrong = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if line.startswith("|") and r"\|" in line
    ]
    assert wrong == []
