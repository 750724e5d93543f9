"""`foretell restore`: a backup becomes the folder of a broker that is to be started; nothing is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="A folder that `foretell backup` has made.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The new folder, where the broker will work.")],
) -> None:
    """Make a broker's folder from a backup, after every byte of it has been checked."""
    from .copied_folder import copied_folder

    copied = copied_folder(backup, folder)
    typer.echo(f"{folder}: a broker started here begins after position {copied.position}")
