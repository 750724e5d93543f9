"""The forms in which Foretell is measured, each a folder that a trial runs in: the sources, and the wheel.

Not here: what is measured in them (questions), and how a process is run (measuring).

Both are copies in a temporary folder, so that nothing that is edited meanwhile, and no extension module that lies
beside the sources, is measured by mistake. The compiled form is what a user installs, the unpacked wheel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final, final

from .measuring import ROOT, BenchmarkError, Say

PACKAGES: Final = ("broker", "client", "spark_bridge")
FILES: Final = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
SECONDS_MAX: Final = 600  # mypyc and gcc take some 90 s
COMPILED, UNCOMPILED = "compiled", "uncompiled"


@final
@dataclass(frozen=True, slots=True)
class Build:
    """One form of Foretell: `folder` contains its packages."""

    name: str
    folder: str

    @property
    def compiled(self) -> bool:
        return self.name == COMPILED


@contextmanager
def builds(say: Say) -> Iterator[list[Build]]:
    """Compiled, where there is a compiler, and uncompiled. They are gone afterwards. Raises BenchmarkError."""
    with tempfile.TemporaryDirectory(prefix="foretell-builds-") as name:
        folder = Path(name)
        say("copying the sources")
        pure = _copied(folder / UNCOMPILED)
        say("building the wheel")
        wheel = _wheel(folder)
        found = [Build(COMPILED, str(wheel))] if wheel is not None else []
        yield [*found, Build(UNCOMPILED, str(pure))]


@contextmanager
def fastest(say: Say) -> Iterator[Build]:
    """The compiled form, where there is a compiler, else the uncompiled one."""
    with builds(say) as found:
        yield found[0]


def _copied(folder: Path) -> Path:
    """The packages without what any compiler made of them."""
    unwanted = shutil.ignore_patterns("__pycache__", *(f"*{suffix}" for suffix in EXTENSION_SUFFIXES))
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=unwanted)
    return folder


def _wheel(folder: Path) -> Path | None:
    """The unpacked wheel; None where it is pure, since nothing here can compile it. Raises BenchmarkError."""
    source = _copied(folder / "source")
    for file in FILES:
        if (ROOT / file).exists():
            shutil.copy(ROOT / file, source)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    variables = {name: value for name, value in os.environ.items() if name != "FORETELL_PURE"}
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"building the wheel: no result after {SECONDS_MAX} s") from None
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        complaint = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no complaint"]
        raise BenchmarkError(f"building the wheel: {complaint[-1]}")
    unpacked = folder / COMPILED
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extractall(unpacked)
    native = any(path.name.endswith(tuple(EXTENSION_SUFFIXES)) for path in unpacked.rglob("*"))
    return unpacked if native else None
