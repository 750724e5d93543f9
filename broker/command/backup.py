"""`foretell backup`: copies a broker's folder, completely or not at all, even while the broker runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a broker's journal.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The new folder for the copy.")],
) -> None:
    """Copy a broker's journal and checkpoints consistently, even while the broker runs."""
    from .copied_folder import copied_folder

    copied = copied_folder(folder, target)
    typer.echo(f"{target}: up to position {copied.position}, {copied.files} files, {copied.bytes} bytes")
