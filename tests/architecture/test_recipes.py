"""CONTRIBUTING's recipes name files and definitions that exist, and the lists to which they add are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from architecture.test_executors import FOLDERS

from broker.automaton import analyses
from broker.engine.planner import TABLE

ROOT = Path(__file__).parents[2]
PRODUCT = ("broker", "client", "spark_bridge", "tests", "docs")
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = re.split(r"^### ", PAGE.partition("## Recipes")[2], flags=re.MULTILINE)
NAMED = [pytest.param(text, id=text.partition("\n")[0].replace(" ", "-")) for text in RECIPES[1:]]
SPAN = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:py|md|lark|jsonl|toml)")
DEFINED = re.compile(r"`(\w+)`(?: and `\w+`)? (?:from|in|to) \[[^]]*\]\(([^)]+\.py)\)")
PLACEHOLDER = re.compile(r"NAME|^\.venv|^dist/|^site/")


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("recipe", NAMED)
def test_the_files_of_a_recipe_exist(recipe: str) -> None:
    known = {path.name for path in ROOT.iterdir()}
    known |= {path.name for folder in PRODUCT for path in (ROOT / folder).rglob("*.*")}
    named = [name for span in SPAN.findall(recipe) for name in FILE.findall(span) if not PLACEHOLDER.search(name)]
    assert named
    for name in named:
        assert (ROOT / name).exists() if "/" in name else name in known, name


@pytest.mark.parametrize("recipe", NAMED)
def test_what_a_recipe_finds_in_a_file_is_there(recipe: str) -> None:
    for name, path in DEFINED.findall(" ".join(recipe.split())):
        assert re.search(rf"\b{name}\b", text_of(path)), f"{name} in {path}"


def test_the_list_of_analyses_has_each() -> None:
    files = {path.stem for path in Path(analyses.__path__[0]).glob("*.py")} - {"__init__"}
    assert set(SPAN.findall(analyses.__doc__ or "")) == files


def test_the_architecture_names_each_executor_and_its_folder() -> None:
    page = text_of("ARCHITECTURE.md")
    table = page.partition("| executor | keeps |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(row.plan.executor for row in TABLE)
    row = next(line for line in page.splitlines() if line.startswith("| an executor |"))
    assert sorted(re.findall(r"executors/(\w+)/`", row)) == FOLDERS
