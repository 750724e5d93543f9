"""Libraries in C that stand between a process of a test and the system (LD_PRELOAD); compiled when they are asked
for. What each does is said in its source, which lies beside whoever asks.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

TORTURE = Path(__file__).parents[1] / "torture"


def preloaded(source: str, folder: Path) -> dict[str, str]:
    """Compile it into this folder: the environment of a process that is to have it."""
    library = folder / Path(source).with_suffix(".so")
    compiled = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(library), str(TORTURE / source)]
    subprocess.run([*compiled, "-ldl", "-lpthread"], check=True)
    return {"LD_PRELOAD": str(library)}
