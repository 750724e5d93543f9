"""The wheel is what a user gets: three packages with their grammars and type markers, and one console script."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from broker import __version__

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "client", "spark_bridge")
DIST_INFO = f"foretell-{__version__}.dist-info"
SHIPPED = ("*.py", "*.lark", "py.typed")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The built wheel, from a copy: setuptools leaves a build folder whose leftovers would be shipped next time."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(copy)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_top_level_is_exactly_three_packages(wheel: zipfile.ZipFile) -> None:
    assert {name.partition("/")[0] for name in wheel.namelist()} == {*PACKAGES, DIST_INFO}


def test_every_source_file_is_shipped_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if not name.startswith(DIST_INFO)}
    files = [path for package in PACKAGES for kind in SHIPPED for path in (ROOT / package).rglob(kind)]
    written = {path.relative_to(ROOT).as_posix() for path in files}
    assert shipped == written
    assert {f"{package}/py.typed" for package in PACKAGES} <= shipped
    assert any(name.endswith(".lark") for name in shipped)


def test_metadata_names_script_version_and_licence(wheel: zipfile.ZipFile) -> None:
    assert "foretell = broker.command.shell:main" in wheel.read(f"{DIST_INFO}/entry_points.txt").decode()
    metadata = wheel.read(f"{DIST_INFO}/METADATA").decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert f"{DIST_INFO}/licenses/LICENSE" in wheel.namelist()
