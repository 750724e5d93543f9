"""Errors with their place in front, in one line. Other modules find the errors.

An error message is `PLACE: message`. The place is something that the user can open: a file, then a line or a row of it.
The packages below the command do not know file names, so errors get their place here, on the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Final, final

from ..events.errors import ForetellError, QueryError

LONGEST_COMPLAINT: Final = 2_000
"""The most characters of a message that are shown; a longer message is cut."""


@final
class BadInput(ForetellError):
    """An error in the user's input, with its place in front; `excerpt` is the underlined source line, or empty."""

    code: ClassVar[str] = "input"

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.excerpt: str = excerpt


def at(place: str, error: ForetellError) -> BadInput:
    """Return the same error with its place."""
    excerpt = error.excerpt if isinstance(error, QueryError | BadInput) else ""
    return BadInput(f"{place}: {error}", excerpt)


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Add the place to every error that leaves the block."""
    try:
        yield
    except ForetellError as error:
        raise at(place, error) from error


def one_line(message: str) -> str:
    """Return the message without line breaks and other control characters, cut if it is too long."""
    line = escaped(" ".join(message[: LONGEST_COMPLAINT + 1].splitlines()).replace("\t", " "))
    return line if len(line) <= LONGEST_COMPLAINT else line[: LONGEST_COMPLAINT - 1] + "…"


def escaped(text: str) -> str:
    r"""Return text from others with invisible characters, which might control a terminal, as escapes such as `\x1b`."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else each.encode("unicode_escape").decode() for each in text])


def conversion(beginning: bytes) -> str:
    """What converts a file that is no UTF-8 and begins so."""
    other = "UTF-16" if beginning[:2] in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
    return f"iconv -f {other} -t UTF-8 converts the file, if it is {other}"


def of_file(error: OSError) -> str:
    """Return what the operating system reports about a file or an address, in one line."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename is not None else reason
