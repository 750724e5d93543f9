"""Look at finished wheels: `python tests/packaging/check_wheels.py FOLDER`. The names of a compiled wheel and of its
libraries must say for which Python and platform they are; on Linux auditwheel says which systems can load them.

Exit status 1, with one line a fault. That they work, the tests beside this file say.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"


def faults(folder: Path) -> Iterator[str]:
    """What is wrong, a line each; says what is right."""
    found = sorted(folder.glob("*.whl"))
    if len(found) != 2:
        yield f"{folder}: expected a compiled and a pure wheel, found {len(found)}"
    for wheel in found:
        *_, python, abi, platform = wheel.stem.split("-")
        libraries = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".so", ".pyd"))]
        if (python, abi, platform) == ("py3", "none", "any"):
            if libraries:
                yield f"{wheel.name}: {libraries[0]} is compiled"
            print(f"{wheel.name}: pure")
            continue
        if (python, abi) != (PYTHON, PYTHON):
            yield f"{wheel.name}: expected tags {PYTHON}-{PYTHON}"
        if not libraries:
            yield f"{wheel.name}: nothing is compiled"
        for name in libraries:
            if not name.endswith(EXTENSION_SUFFIXES[0]):
                yield f"{wheel.name}: {name} does not end with {EXTENSION_SUFFIXES[0]}"
        print(f"{wheel.name}: {len(libraries)} libraries, {wheel.stat().st_size / 1e6:.1f} MB")
        if sys.platform == "linux":
            shown = subprocess.run(
                [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=False
            )
            if shown.returncode != 0 or "manylinux" not in shown.stdout:
                yield f"{wheel.name}: auditwheel: {(shown.stderr or shown.stdout).strip().splitlines()[-1]}"
            print(" ".join(shown.stdout.split()))


def main() -> int:
    wrong = list(faults(Path(sys.argv[1])))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
