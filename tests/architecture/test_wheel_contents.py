"""The wheel is what a user gets: three packages with their grammars and type markers, one console script, and beside
the hot modules what they are compiled to, all of it or nothing."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from sysconfig import get_platform

import pytest

from broker import __version__

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "client", "spark_bridge")
DIST_INFO = f"foretell-{__version__}.dist-info"
SHIPPED = ("*.py", "*.lark", "py.typed")
COMPILED = EXTENSION_SUFFIXES[0]
# What a build of another day has left behind.
STALE = (
    "build/lib/broker/stale.py",
    f"build/lib.{get_platform()}-{sys.implementation.cache_tag}/broker/stale.py",
    f"broker/engine/ordered{COMPILED}",
    f"broker/stale{COMPILED}",
)
REQUIRED = {"FORETELL_PURE": "0"}
WITHOUT_COMPILER = {"PATH": str(Path(sys.executable).parent), "CC": "/nonexistent"}
PAIRS = """
from broker.engine import Engine
engine = Engine()
engine.add_stream("S", {"price": "float"})
engine.subscribe("doubled", query="S NEXT{$2.price > 2 * $1.price} S", lineage=True)
print([match.lineage for match in engine.publish("S", [1, 2, 3], [(1.0,), (5,), (7.0,)])])
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def python(
    environment: Mapping[str, str], *arguments: str | Path, folder: Path = Path("/")
) -> subprocess.CompletedProcess[str]:
    """Runs this interpreter, by default outside the repository."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "FORETELL_PURE"}}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env={**kept, **environment}, cwd=folder, capture_output=True, text=True, check=False)


def source(folder: Path) -> Path:
    """A copy of what is built, with leftovers, which must not be shipped."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in STALE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("stale")
    return folder


def built(folder: Path, environment: Mapping[str, str]) -> Path:
    out = folder / "dist"
    build = python(environment, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source(folder))
    assert build.returncode == 0, build.stdout + build.stderr
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("compiled"), REQUIRED)


@pytest.fixture(scope="module")
def pure_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("pure"), WITHOUT_COMPILER)


def shipped(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(DIST_INFO)}


def sources() -> set[str]:
    files = [path for package in PACKAGES for kind in SHIPPED for path in (ROOT / package).rglob(kind)]
    return {path.relative_to(ROOT).as_posix() for path in files}


def hot() -> list[str]:
    """The modules that setup.py lists."""
    for node in ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="HOT"), value=ast.Tuple() as names):
                return list(ast.literal_eval(names))
    raise AssertionError("setup.py lists no hot modules")


def test_top_level_is_exactly_three_packages(wheel: Path, pure_wheel: Path) -> None:
    for path in (wheel, pure_wheel):
        assert {name.partition("/")[0] for name in zipfile.ZipFile(path).namelist()} == {*PACKAGES, DIST_INFO}


def test_every_source_file_is_shipped_and_nothing_else(wheel: Path, pure_wheel: Path) -> None:
    written = sources()
    assert {f"{package}/py.typed" for package in PACKAGES} <= written
    assert any(name.endswith(".lark") for name in written)
    compiled = {name.removesuffix(".py") + COMPILED for name in hot()} | {f"broker/native__mypyc{COMPILED}"}
    assert shipped(pure_wheel) == written
    assert shipped(wheel) == written | compiled


def test_file_names_say_where_a_wheel_runs(wheel: Path, pure_wheel: Path) -> None:
    assert pure_wheel.name == f"foretell-{__version__}-py3-none-any.whl"
    assert not wheel.name.endswith("-any.whl")


def test_metadata_names_script_version_and_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    assert "foretell = broker.command.shell:main" in archive.read(f"{DIST_INFO}/entry_points.txt").decode()
    metadata = archive.read(f"{DIST_INFO}/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nRequires-Dist: mypy-extensions" in metadata
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
    for name in STALE:
        (copy / name).unlink()
    install = ("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--target", tmp_path / "site", "-e", copy)
    done = python(REQUIRED, *install)
    assert done.returncode == 0, done.stderr
    assert list(copy.rglob(f"*{COMPILED}")) == []


def test_what_must_be_compiled_fails_in_one_line_without_a_compiler(tmp_path: Path) -> None:
    command = ("setup.py", "--quiet", "bdist_wheel")
    done = python({**REQUIRED, **WITHOUT_COMPILER}, *command, folder=source(tmp_path))
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith("foretell: not compiled, which FORETELL_PURE=0 asks for: ")
