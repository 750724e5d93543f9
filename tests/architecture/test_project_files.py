"""The files around the code keep their form: changelog, Makefile, workflows. Pages in docs: tests/integration."""

from __future__ import annotations

import re
import subprocess
from datetime import date
from pathlib import Path
from typing import Final

import pytest

from broker import __version__

ROOT: Final = Path(__file__).parents[2]
CHANGELOG: Final = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS: Final = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))

SECTIONS: Final = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
UNRELEASED: Final = "[Unreleased]"
RELEASED: Final = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)")
PYTHONS: Final = ("cp311", "cp312", "cp313", "cp314")
RUNNERS: Final = ("ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel")


def parts(text: str, mark: str) -> list[tuple[str, str]]:
    """The headings of one level, each with what is below it."""
    found = re.split(rf"^{mark} (.*)\n", text, flags=re.MULTILINE)
    return list(zip(found[1::2], found[2::2]))


def parameters(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=path.name) for path in paths]


# ---- the changelog ----


def test_the_changelog_has_versions_from_the_newest_to_the_oldest() -> None:
    first, *released = [heading for heading, _ in parts(CHANGELOG, "##")]
    assert first == UNRELEASED
    found = [RELEASED.fullmatch(heading) for heading in released]
    assert all(found), released
    versions = [tuple(map(int, match.groups()[:3])) for match in found if match]
    dates = [date.fromisoformat(match[4]) for match in found if match]
    assert versions == sorted(set(versions), reverse=True)
    assert dates == sorted(dates, reverse=True)


def test_the_newest_version_of_the_changelog_is_the_one_of_the_code() -> None:
    assert parts(CHANGELOG, "##")[1][0].startswith(f"[{__version__}] - "), "see docs/releasing.md"


def test_the_sections_of_the_changelog_say_what_kind_of_change_it_is() -> None:
    for heading, text in parts(CHANGELOG, "##"):
        sections = parts(text, "###")
        names = [name for name, _ in sections]
        assert names == [name for name in SECTIONS if name in names], f"{heading}: these, in this order, each once"
        assert not re.search(r"^- ", text.partition("###")[0], re.MULTILINE), f"{heading}: an entry without a section"
        if heading != UNRELEASED:
            for name, entries in sections:
                assert re.search(r"^- ", entries, re.MULTILINE), f"{heading}, {name}: no entry"


# ---- the Makefile ----


def targets() -> list[str]:
    """The commands of the Makefile; what only others require is left out."""
    phony = [name for names in re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE) for name in names.split()]
    assert "help" in phony
    return [name for name in phony if not name.startswith("require-")]


def test_make_help_shows_every_command_with_what_it_does() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    said = dict(re.findall(r"^  make (\S+)\s+(.+)$", shown, re.MULTILINE))
    assert sorted(said) == sorted(targets())


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "releasing.md"]


@pytest.mark.parametrize("path", parameters([*PAGES, *WORKFLOWS]))
def test_every_command_of_make_that_is_named_exists(path: Path) -> None:
    named = re.findall(r"(?:`|\$ |run: |^)make ([a-z]+(?: [a-z]+)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for names in named for name in names.split()} <= set(targets())


# ---- workflows and forms ----


@pytest.mark.parametrize("path", parameters([*WORKFLOWS, *FORMS, ROOT / ".pre-commit-config.yaml"]))
def test_yaml_is_of_the_plain_kind(path: Path) -> None:
    """Read as text, as nothing that the project needs reads YAML: maps of keys in steps of two spaces."""
    text = path.read_text(encoding="utf-8")
    assert "\t" not in text
    assert re.search(r" $", text, re.MULTILINE) is None
    keys = re.findall(r"^([a-z_-]+):", text, re.MULTILINE)
    assert len(keys) == len(set(keys)), "a key comes once"
    steps = re.findall(r"^( *)(?:- )?[A-Za-z_-]+:", text, re.MULTILINE)
    assert all(len(step) % 2 == 0 for step in steps)


@pytest.mark.parametrize("path", parameters(WORKFLOWS))
def test_workflows_may_read_only_and_pin_what_they_use(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions:\n  contents: read\n" in text
    for used in re.findall(r"uses: (\S+)", text):
        if used.startswith("./"):
            assert (ROOT / used).is_file()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+(\.\d+)?|release/v\d+)", used), used


def test_a_release_has_a_wheel_for_each_python_on_each_platform() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert f"runner: [{', '.join(RUNNERS)}]\n" in text
    assert f"python: [{', '.join(PYTHONS)}]\n" in text
    compiled = len(RUNNERS) * len(PYTHONS)
    assert f'test "$(ls dist/*.whl | wc -l)" -eq {compiled + 1}' in text, "and one that is pure"
    assert "CIBW_ENVIRONMENT: FORETELL_PURE=0 " in text
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    assert f"all {compiled + 2} files" in page
