"""The wheel is what a user gets: three packages with their grammars and type markers, one console script, and beside
the hot modules what they are compiled to, all of it or nothing."""

from __future__ import annotations

import ast
import re
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from sysconfig import get_platform

import pytest
from doubles.built_wheels import PACKAGES, PURE_TAG, REQUIRED, ROOT, built, python, source

from broker import __version__

DIST_INFO = f"foretell-{__version__}.dist-info"
SHIPPED = ("*.py", "*.lark", "py.typed", "assets/*")
COMPILED = EXTENSION_SUFFIXES[0]
# What a build of another day has left behind.
STALE = (
    "build/lib/broker/stale.py",
    f"build/lib.{get_platform()}-{sys.implementation.cache_tag}/broker/stale.py",
    f"broker/engine/dispatch/dispatcher{COMPILED}",
    f"broker/stale{COMPILED}",
)
LISTS = ("HOT_FOLDERS", "HOT_MODULES", "WARM", "COLD")  # of setup.py
WITHOUT_COMPILER = {"PATH": str(Path(sys.executable).parent), "CC": "/nonexistent"}
PAIRS = """
from broker.engine import Engine
engine = Engine()
engine.add_stream("S", {"price": "float"})
engine.subscribe("doubled", query="S NEXT{$2.price > 2 * $1.price} S", lineage=True)
print([match.lineage for match in engine.publish("S", [1, 2, 3], [(1.0,), (5,), (7.0,)])])
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that comes of sources with leftovers, which must not be shipped, on a machine without a compiler."""
    copy = source(tmp_path_factory.mktemp("stale"))
    for name in STALE:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("stale")
    return built(copy, WITHOUT_COMPILER)


def shipped(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(DIST_INFO)}


def sources() -> set[str]:
    files = [path for package in PACKAGES for kind in SHIPPED for path in (ROOT / package).rglob(kind)]
    return {path.relative_to(ROOT).as_posix() for path in files}


def hot() -> list[str]:
    """The modules that setup.py names, and those of its folders but for what runs once (`ONCE`)."""
    named: dict[str, tuple[str, ...]] = {}
    for node in ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple() as value) if name in LISTS:
                named[name] = ast.literal_eval(value)
    once = re.compile(r"(__init__|explanation|.*_plan)\.py")
    found = [path for folder in named["HOT_FOLDERS"] for path in (ROOT / folder).rglob("*.py")]
    within = {path.relative_to(ROOT).as_posix() for path in found if not once.fullmatch(path.name)}
    return [*named["HOT_MODULES"], *sorted(within.difference(named["WARM"], named["COLD"])), *named["WARM"]]


def test_top_level_is_exactly_three_packages(wheel: Path, pure_wheel: Path, without_compiler: Path) -> None:
    for path in (wheel, pure_wheel, without_compiler):
        assert {name.partition("/")[0] for name in zipfile.ZipFile(path).namelist()} == {*PACKAGES, DIST_INFO}


def test_every_source_file_is_shipped_and_nothing_else(wheel: Path, pure_wheel: Path, without_compiler: Path) -> None:
    written = sources()
    assert {f"{package}/py.typed" for package in PACKAGES} <= written
    assert any(name.endswith(".lark") for name in written)
    compiled = {name.removesuffix(".py") + COMPILED for name in hot()} | {f"broker/native__mypyc{COMPILED}"}
    assert shipped(pure_wheel) == written
    assert shipped(without_compiler) == written
    assert shipped(wheel) == written | compiled


def test_file_names_say_where_a_wheel_runs(wheel: Path, pure_wheel: Path, without_compiler: Path) -> None:
    assert pure_wheel.name == without_compiler.name == f"foretell-{__version__}{PURE_TAG}"
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name


def test_metadata_names_script_version_and_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    assert "foretell = broker.command.shell:main" in archive.read(f"{DIST_INFO}/entry_points.txt").decode()
    metadata = archive.read(f"{DIST_INFO}/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    for needed in ("mypy-extensions", "librt"):  # of compiled modules
        assert f"\nRequires-Dist: {needed}" in metadata
    assert f"{DIST_INFO}/licenses/LICENSE" in archive.namelist()


def test_both_wheels_work_and_say_what_they_are(wheel: Path, pure_wheel: Path, tmp_path: Path) -> None:
    for path, build in ((wheel, "compiled"), (pure_wheel, "pure Python")):
        installed = tmp_path / build
        zipfile.ZipFile(path).extractall(installed)
        version = python({"PYTHONPATH": str(installed)}, "-m", "broker.command", "--version")
        assert version.stdout == f"foretell {__version__} ({build})\n", version.stderr
        found = python({"PYTHONPATH": str(installed)}, "-c", PAIRS)
        assert found.stdout == "[[1, 2]]\n", found.stderr


def test_an_editable_install_compiles_nothing(tmp_path: Path) -> None:
    copy = source(tmp_path)
    install = ("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--target", tmp_path / "site", "-e", copy)
    done = python(REQUIRED, *install)
    assert done.returncode == 0, done.stderr
    assert list(copy.rglob(f"*{COMPILED}")) == []


def test_what_must_be_compiled_fails_in_one_line_without_a_compiler(tmp_path: Path) -> None:
    command = ("setup.py", "--quiet", "bdist_wheel")
    done = python({**REQUIRED, **WITHOUT_COMPILER}, *command, folder=source(tmp_path))
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith("foretell: not compiled, which FORETELL_PURE=0 asks for: ")
