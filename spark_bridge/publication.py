"""Publishes a folder of results whole or not at all, and once for equal inputs. Not here: its content.

    OUT/.lock            held by the process that writes here
    OUT/.run-DIGEST-...  being written; ignored, and removed by the next run if it was left
    OUT/run-DIGEST       written, durable, and never changed again
    OUT/CURRENT          the current run: {"run": "run-DIGEST"}, replaced atomically

So whatever fails, CURRENT still names the earlier run, which still exists. OUT must be on a file system with atomic
renames: a local or a shared disk, not an object store.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from broker.events import DefinitionError

CURRENT: Final = "CURRENT"
LOCK: Final = ".lock"
_RUN: Final = "run-"
_UNFINISHED: Final = ".run-"
_RUN_NAME: Final = re.compile(r"run-[0-9a-z]{1,128}")
_DIGEST: Final = re.compile(r"[0-9a-z]{1,128}")


def publish(out: str | Path, digest: str | None, write: Callable[[Path], str]) -> Path:
    """Publish a run, which `write` fills under another name, and make it the current one; its folder.

    `digest`: that of everything that the content depends on. If a run with this digest exists, `write` is not called
    and the run becomes the current one. None: the digest is known only after writing. `write` creates the folder, to
    which nothing else may write, and returns the digest to publish it under.

    Raises DefinitionError if `out` is not a folder or another process writes there, OSError, and the errors of `write`;
    then nothing has changed.
    """
    folder = Path(out).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DefinitionError(f"{out}: expected a folder, or a place for a new one, found a file") from None
    with _locked(folder):
        for left in folder.glob(_UNFINISHED + "*"):
            shutil.rmtree(left, ignore_errors=True)
        if digest is not None and (folder / _named(digest)).is_dir():
            return _made_current(folder, _named(digest))
        # The name is new each time, so that an executor left over from a killed run does not write here.
        unfinished = folder / f"{_UNFINISHED}{digest or 'unknown'}-{token_hex(4)}"
        unfinished.mkdir()
        try:
            name = _named(write(unfinished))
            if not (folder / name).is_dir():
                _sync(unfinished)
                unfinished.rename(folder / name)
                _sync_folder(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return _made_current(folder, name)


def current_run(folder: Path) -> Path:
    """The folder of the current run; the folder itself if it publishes none. Raises DefinitionError."""
    file = folder / CURRENT
    try:
        text = file.read_text()
    except (FileNotFoundError, NotADirectoryError):
        return folder
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{file}: expected a file that can be read: {error}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    name = document.get("run") if isinstance(document, dict) else None
    if not isinstance(name, str) or not _RUN_NAME.fullmatch(name):
        raise DefinitionError(f"{file}: expected the name of a run, found something else")
    if not (folder / name).is_dir():
        raise DefinitionError(f"{file}: expected the folder of {name}, found none")
    return folder / name


def write_durably(file: Path, text: str) -> None:
    """Write a new file durably; its name is durable only after a sync of the folder."""
    with open(file, "x", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _named(digest: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise DefinitionError(f"expected a digest of at most 128 digits and small letters, found {digest[:160]!r}")
    return _RUN + digest


def _made_current(folder: Path, name: str) -> Path:
    with suppress(DefinitionError):
        if current_run(folder) == folder / name:
            return folder / name
    new = folder / f"{CURRENT}.new"
    new.unlink(missing_ok=True)
    write_durably(new, json.dumps({"run": name}) + "\n")
    os.replace(new, folder / CURRENT)
    _sync_folder(folder)
    return folder / name


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder within the block against other processes; the system releases the lock if the process ends."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DefinitionError(f"{folder}: expected a folder that no run writes to, found a run at work") from None
        yield
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    """Make a folder and everything in it durable."""
    for place, _, files in os.walk(folder):
        for name in files:
            _sync_path(os.path.join(place, name), os.O_RDONLY)
        _sync_folder(Path(place))


def _sync_folder(folder: Path) -> None:
    _sync_path(str(folder), os.O_RDONLY | os.O_DIRECTORY)


def _sync_path(path: str, flags: int) -> None:
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
