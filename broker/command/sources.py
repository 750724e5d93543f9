"""Opens files of bytes that the user names: several of them, patterns, standard input, compressed or not.

The first bytes of a file tell what compresses it, so that standard input may be compressed too.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from .complaint import BadInput

STANDARD_INPUT: Final = "-"
COMPRESSED: Final = (".gz", ".zst")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def files_of(names: Sequence[str]) -> list[str]:
    """The files that names and patterns such as `ticks-*.csv` mean, each pattern's sorted. Raises BadInput."""
    found: list[str] = []
    for name in names:
        if name == STANDARD_INPUT or not glob.has_magic(name) or os.path.exists(name):
            found.append(name)
            continue
        matching = sorted(each for each in glob.glob(name, recursive=True) if not os.path.isdir(each))
        if not matching:
            raise BadInput(f"{name}: expected files that match this pattern, found none")
        found += matching
    if found.count(STANDARD_INPUT) > 1:
        raise BadInput("expected '-', the standard input, once, found it twice")
    return found


def place_of(file: str) -> str:
    """How messages call a file."""
    return "standard input" if file == STANDARD_INPUT else file


def suffix_of(file: str) -> str:
    """The suffix that tells a file's format, without that of its compression, in lower case."""
    path = Path(file.lower())
    return path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix


@contextmanager
def opened(file: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """The bytes of a file, decompressed, and how many there are; None if unknown. Raises OSError, BadInput."""
    if file == STANDARD_INPUT:
        plain = cast("io.BufferedReader", sys.stdin.buffer)
        beginning = plain.peek(4) if hasattr(plain, "peek") else b""
        yield _decompressed(plain, place_of(file), beginning), None
        return
    regular = os.path.isfile(file)
    if regular:
        with open(file, "rb", buffering=0) as head:
            beginning = head.read(4)
    with open(file, "rb") as plain:
        # Peeking fills the buffer, and the first read would return no more than that.
        source = _decompressed(plain, file, beginning if regular else plain.peek(4))
        yield source, os.path.getsize(file) if regular and source is plain else None


def _decompressed(plain: io.BufferedReader, place: str, beginning: bytes) -> BinaryIO:
    if beginning.startswith(_GZIP):
        return cast("BinaryIO", _reader(gzip.GzipFile(fileobj=plain), place))
    if beginning.startswith(_ZSTD):
        return cast("BinaryIO", _reader(_zstd(plain, place), place))
    return plain


def _zstd(plain: io.BufferedReader, place: str) -> Any:
    """Read with the pyarrow of an extra. Raises BadInput."""
    try:
        import pyarrow
    except ImportError:
        raise BadInput(
            f"{place}: reading .zst needs pyarrow, which is not installed: pip install 'foretell[parquet]'"
        ) from None
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(plain, "r"), "zstd")


class _Raw(io.RawIOBase):
    """A decompressing stream whose errors name its file."""

    def __init__(self, stream: Any, place: str) -> None:
        self._stream = stream
        self._place = place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            found: bytes = self._stream.read(len(buffer))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise BadInput(f"{self._place}: expected compressed data, found damaged data: {reason}") from None
        buffer[: len(found)] = found
        return len(found)


def _reader(stream: Any, place: str) -> io.BufferedReader:
    return io.BufferedReader(_Raw(stream, place), 2**18)
