"""The walks through the code, docs/life-of-*.md, name files and definitions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
STEP = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^#|\n\n|\Z)", re.MULTILINE | re.DOTALL)
PAGES = [(DOCS / name).read_text(encoding="utf-8") for name in ("life-of-an-event.md", "life-of-a-subscription.md")]
STEPS = [step for page in PAGES for step in STEP.findall(page)]
NAME = re.compile(r"`([A-Za-z_]+(?:\.[a-z_]+)?)`(?!\])")
LINK = re.compile(r"\]\(\.\./([^)]+)\)")


def defined(path: Path) -> set[str]:
    """The classes, functions and methods of a module: `Name`, `Name.method`."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return names


@pytest.mark.parametrize(
    "step", STEPS, ids=lambda step: re.sub(r"\W+", "-", step.partition("**")[2].partition("**")[0])
)
def test_what_a_step_names_is_defined_in_its_files(step: str) -> None:
    paths = [DOCS.parent / each for each in LINK.findall(step)]
    assert paths
    for path in paths:
        assert path.exists(), path
    known = set().union(*(defined(path) for path in paths if path.is_file()))
    for name in NAME.findall(step):
        assert name in known, f"{name} is in none of {[path.name for path in paths]}"


def test_the_pages_are_walks_of_some_steps() -> None:
    assert all(len(STEP.findall(page)) > 10 for page in PAGES)
