"""Copies a broker's folder to a new one, durably and completely; `broker.storage` says what a consistent copy is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .complaint import BadInput

if TYPE_CHECKING:
    from ..storage.copying import Copied

PARTIAL = ".partial"
"""The suffix of an unfinished copy."""


def copied_folder(source: Path, target: Path) -> Copied:
    """Copy under another name and rename. Raises StorageErrors, BadInput and OSError, and then leaves no target."""
    import shutil

    from ..storage import Folder
    from ..storage.copying import copy

    if target.exists():
        raise BadInput(f"{target}: expected a folder that does not exist yet, found one")
    partial = target.with_name(target.name + PARTIAL)
    if partial.exists():
        raise BadInput(f"{partial}: another copy is being made there, or one was interrupted: remove it")
    Folder(source).names()  # raises if the source is missing, before anything is written
    made = Folder.made(partial)
    try:
        copied = copy(Folder(source), made)
    except BaseException:
        shutil.rmtree(partial)
        raise
    parent = Folder(target.absolute().parent)
    parent.rename(partial.name, target.name)
    parent.sync_folder()
    return copied
