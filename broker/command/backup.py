"""`foretell backup`: a copy of a broker's folder that is there whole or not at all; the broker may be at work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where a broker keeps its journal.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The new folder for the copy.")],
) -> None:
    """Copy a broker's journal and checkpoints, consistently, also while it runs."""
    from .copied_folder import copied_folder

    copied = copied_folder(folder, target)
    typer.echo(f"{target}: up to position {copied.position}, {copied.files} files, {copied.bytes} bytes")
