"""`foretell restore`: makes the folder of a new broker from a backup; overwrites nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="A folder made by `foretell backup`.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The new folder for the broker's journal.")],
) -> None:
    """Make a broker's folder from a backup, after checking every byte of it."""
    from .copied_folder import copied_folder

    copied = copied_folder(backup, folder)
    typer.echo(f"{folder}: a broker started here begins after position {copied.position}")
