"""How a complaint gets its place and becomes one line; what is wrong is found elsewhere.

A complaint is `PLACE: message`. The place is what the user can open: a file, then a line or a row of it. Below the
command nobody knows files, so errors get their place on the way out, here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Final, final

from ..events.errors import ForetellError, QueryError

LONGEST_COMPLAINT: Final = 2_000
"""Characters of a message that are shown; a longer one is cut."""


@final
class BadInput(ForetellError):
    """Somebody's fault, with its place in front; `excerpt` is the source line with its underline, or empty."""

    code: ClassVar[str] = "input"

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.excerpt: str = excerpt


def at(place: str, error: ForetellError) -> BadInput:
    """The same complaint with its place."""
    excerpt = error.excerpt if isinstance(error, QueryError | BadInput) else ""
    return BadInput(f"{place}: {error}", excerpt)


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Gives its place to every complaint that comes out of the block."""
    try:
        yield
    except ForetellError as error:
        raise at(place, error) from error


def one_line(message: str) -> str:
    """The message without line breaks and other controls, cut where it is too long to be read."""
    line = escaped(" ".join(message[: LONGEST_COMPLAINT + 1].splitlines()).replace("\t", " "))
    return line if len(line) <= LONGEST_COMPLAINT else line[: LONGEST_COMPLAINT - 1] + "…"


def escaped(text: str) -> str:
    r"""What others wrote, for a terminal: what is no visible character, and may be an order to it, as `\x1b`."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else each.encode("unicode_escape").decode() for each in text])


def of_file(error: OSError) -> str:
    """What the operating system has against a file or an address, in one line."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename is not None else reason
