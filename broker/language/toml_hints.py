"""Hints for mistakes in TOML files: what is written instead, by the parser's message and the line where it gave up.

Not here: what a subscription file means (subscription_file).
"""

from __future__ import annotations

import re
from typing import Final

_LINE: Final = re.compile(r"line (\d+)")
_OPENS: Final = re.compile(r"^\s*([\w-]+)\s*=\s*\{[^}]*$")
_WRAPPED_LINES_MAX: Final = 20
_UNQUOTED: Final = re.compile(r"^\s*([\w-]+)\s*=\s*([A-Za-z][^#]*?)\s*$")
_KEY: Final = re.compile(r"^\s*([\w-]+)\s*=")
_BY_MESSAGE: Final = (
    (re.compile(r"Illegal character '\\n'"), 'text over several lines stands between three quotes, {key} = """..."""'),
    (re.compile(r"Unescaped '\\'"), "in '...' or '''...''' a \\ stands for itself"),
    (re.compile(r"Cannot (?:declare|overwrite)"), "give one of the two another name"),
)
_OTHER_FORMATS: Final = re.compile(r"\s*(?:\{|---|[\w-]+\s*:)")


def hint_for(text: str, message: str, where: str) -> str:
    """Return the end of an error message, or nothing; `where`: the place, such as `line 3, column 5`. O(text)."""
    lines = text.splitlines()
    at = _LINE.match(where)
    number = len(lines) if at is None else int(at.group(1))
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if number == 1 and _OTHER_FORMATS.match(line) is not None:
        return '; a subscription file is TOML: [streams.NAME], then attributes = { price = "float" }'
    unquoted = _UNQUOTED.match(line)
    if unquoted is not None and message.startswith("Invalid value"):
        return f'; text stands in quotes: {unquoted.group(1)} = "{unquoted.group(2)}"'
    key = _KEY.match(line)
    for said, instead in _BY_MESSAGE:
        if said.search(message) is not None:
            return "; " + instead.format(key="query" if key is None else key.group(1))
    return _wrapped(lines, number)


def _wrapped(lines: list[str], until: int) -> str:
    """The hint for a table in braces that goes on in the next line, which TOML does not allow; or nothing."""
    for number in range(until, max(0, until - _WRAPPED_LINES_MAX), -1):
        opened = _OPENS.search(lines[number - 1])
        if opened is not None:
            name = opened.group(1)
            return (
                f"; a table in braces has to be on one line: write all of {name} = {{ ... }} in line {number}, or a "
                f"table [... .{name}] with a line for each"
            )
    return ""
