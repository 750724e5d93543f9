"""`foretell fsck`: checks every file of a broker's folder. `broker.storage` decides which are bad."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fsck(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a broker's journal.")],
) -> None:
    """Check a journal and its checkpoints. Changes nothing; exit status 2 if a broker would refuse to start."""
    from ..storage import Damaged, Folder
    from ..storage.examination import examine

    damaged: list[str] = []
    found = 0
    for finding in examine(Folder(folder)):
        found += 1
        typer.echo(("damaged  " if finding.damage else "ok       ") + finding.line())
        if finding.damage:
            damaged.append(finding.line())
    if damaged:
        more = f" (and {len(damaged) - 1} more)" if len(damaged) > 1 else ""
        raise Damaged(f"{folder}: {damaged[0]}{more}")
    if not found:
        raise Damaged(f"{folder}: expected a journal, found none")
