"""What an editor asks of a subscription file: mistakes with their places, completions, types, formatted queries.

Lines and columns begin at 0 here, as editors count. Not here: the protocol by which an editor asks (language_server).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final

from ..events.errors import ForetellError
from .check import checked_text
from .complaint import one_line

if TYPE_CHECKING:
    from ..engine import Engine
    from ..language.subscription_file import SubscriptionFile

Place: TypeAlias = tuple[int, int]  # line and column

_TABLE: Final = re.compile(
    r"^[ \t]*\[[ \t]*(streams|subscriptions)[ \t]*\.[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[\w-]+)[ \t]*\]", re.MULTILINE
)
_QUERY: Final = re.compile(r"^[ \t]*query[ \t]*=[ \t]*('''|\"\"\"|'|\")(\n?)", re.MULTILINE)
_IN_QUERY: Final = re.compile(r"subscription '([^']+)': (?:line (\d+), column (\d+): )?(.*)", re.DOTALL)
_IN_FILE: Final = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)
_IN_TABLE: Final = re.compile(r"(streams|subscriptions)\.('[^']*'|[\w-]+): (.*)", re.DOTALL)
_OF_STREAM: Final = re.compile(r"stream '([^']+)': (.*)", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_PARTS: Final = re.compile(r"(?:'(?:[^']|'')*'|[^\s'])+")
WIDTH: Final = 100
FILE: Final = "file"
"""The name of the file in errors, which is cut off again."""


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake, or what is probably not meant, at a place."""

    place: Place
    message: str
    severity: Literal["error", "warning"] = "error"


@final
@dataclass(frozen=True, slots=True)
class QueryText:
    """The text of a query in its file: from offset `begin` to `end`. `name`: the subscription."""

    name: str
    begin: int
    end: int
    quotes: str


@final
@dataclass(frozen=True, slots=True)
class Suggested:
    """A word that may come here, and what it is."""

    word: str
    kind: Literal["attribute", "stream", "function"]
    about: str


def tables(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Of each table of streams and subscriptions: kind, name, and where it begins and ends."""
    found = list(_TABLE.finditer(text))
    for each, end in zip(found, [*[other.start() for other in found[1:]], len(text)]):
        yield each.group(1), each.group(2).strip("\"'"), each.start(), end


def queries(text: str) -> list[QueryText]:
    """The queries of a file, in order. O(text)."""
    found: list[QueryText] = []
    for kind, name, begin, end in tables(text):
        query = _QUERY.search(text, begin, end) if kind == "subscriptions" else None
        if query is None:
            continue
        quotes = query.group(1)
        first = query.end() if len(quotes) == 3 else query.end(1)
        last = text.find(quotes, first)
        found.append(QueryText(name, first, len(text) if last < 0 else last, quotes))
    return found


def place_of(text: str, offset: int) -> Place:
    """The line and column of an offset."""
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


def offset_of(text: str, place: Place) -> int:
    """The offset of a line and column; the end of the line if it is shorter."""
    lines = text.split("\n")
    line = min(place[0], len(lines) - 1)
    return sum(len(each) + 1 for each in lines[:line]) + min(place[1], len(lines[line]))


def findings(text: str) -> list[Finding]:
    """All mistakes of a file, and its warnings, in the order of their places."""
    return looked_at(text)[0]


def looked_at(text: str) -> tuple[list[Finding], Engine | None, SubscriptionFile | None]:
    """The findings, an engine with what is right, and the file; None for both if the file as a whole is wrong."""
    try:
        engine, file, wrong = checked_text(text, FILE)
    except ForetellError as error:
        return [_finding(text, str(error))], None, None
    found = [_finding(text, str(error)) for error in wrong]
    for name, definition in engine.subscriptions.items():
        for warned in engine.warnings(definition.query, definition.language):
            found.append(_finding(text, f"subscription '{name}': {warned}", "warning"))
    return sorted(found, key=lambda finding: (finding.place, finding.message)), engine, file


def _finding(text: str, message: str, severity: Literal["error", "warning"] = "error") -> Finding:
    message = one_line(message.removeprefix(f"{FILE}: "))
    if (query := _IN_QUERY.fullmatch(message)) is not None:
        name, line, column, rest = query.groups()
        own = next((each for each in queries(text) if each.name == name), None)
        if own is not None:
            place = place_of(text, own.begin)
            if line is not None:
                below = int(line) - 1
                place = place[0] + below, int(column) - 1 + (place[1] if below == 0 else 0)
            return Finding(place, rest, severity)
    elif (file := _IN_FILE.fullmatch(message)) is not None:
        return Finding((int(file.group(1)) - 1, int(file.group(2)) - 1), file.group(3), severity)
    elif (table := _IN_TABLE.fullmatch(message)) is not None:
        kind, name, rest = table.groups()
        return Finding(_table_place(text, kind, name.strip("'")), rest, severity)
    elif (stream := _OF_STREAM.fullmatch(message)) is not None:
        return Finding(_table_place(text, "streams", stream.group(1)), stream.group(2), severity)
    return Finding((0, 0), message, severity)


def _table_place(text: str, kind: str, name: str) -> Place:
    begin = next((begin for each, own, begin, _ in tables(text) if (each, own) == (kind, name)), 0)
    return place_of(text, begin)


def suggestions(text: str, place: Place) -> list[Suggested]:
    """What may be written at a place: within a query, attributes, streams and functions. None elsewhere."""
    from ..algebra.functions import FUNCTIONS

    offset = offset_of(text, place)
    if not any(query.begin <= offset <= query.end for query in queries(text)):
        return []
    found: dict[str, Suggested] = {}
    for name, attributes in _streams(text).items():
        found[name] = Suggested(name, "stream", ", ".join(f"{each}: {kind}" for each, kind in attributes.items()))
        for each, kind in attributes.items():
            found.setdefault(each, Suggested(each, "attribute", f"{kind}, of {name}"))
    for name, function in FUNCTIONS.items():
        if _WORD.fullmatch(name) is not None:  # others are written as operators
            arguments = ", ".join(function.parameters) + (", ..." if function.variadic else "")
            found.setdefault(name, Suggested(name, "function", f"{name}({arguments})"))
    return list(found.values())


def hover(text: str, place: Place) -> str | None:
    """The type of the attribute, the stream or the function at a place of a query; None elsewhere."""
    offset = offset_of(text, place)
    for word in _WORD.finditer(text):
        if word.start() <= offset <= word.end():
            name = re.sub(r"_\d+$", "", word.group())  # price_1 is the price of an earlier event
            known = {each.word: each for each in suggestions(text, place)}
            each = known.get(word.group()) or known.get(name)
            return None if each is None else f"{each.kind} {each.word}: {each.about}"
    return None


def formatted(text: str) -> str:
    """The file with each query as its language prints it; a query that is wrong, or has comments, stays."""
    from ..engine.languages.table import language_of

    try:
        engine, _, _ = checked_text(text, FILE)
    except ForetellError:
        return text
    for query in reversed(queries(text)):
        definition = engine.subscriptions.get(query.name)
        written = text[query.begin : query.end]
        if definition is None or len(query.quotes) != 3 or "--" in written:
            continue
        language = language_of(definition)
        printed = language.print(language.parse(definition.query))
        text = f"{text[: query.begin]}{wrapped(printed)}\n{text[query.end :]}"
    return text


def wrapped(query: str) -> str:
    """A query in lines of at most WIDTH columns, broken at spaces outside of texts in quotes."""
    lines: list[str] = []
    for part in _PARTS.findall(query.strip()):
        if lines and len(lines[-1]) + 1 + len(part) <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return "\n".join(lines)


def _streams(text: str) -> dict[str, dict[str, str]]:
    """The attributes of the streams of a file, those that subscriptions publish among them."""
    try:
        engine, _, _ = checked_text(text, FILE)
    except ForetellError:
        return {}
    catalog = engine.catalog
    schemas = {name: catalog.schema_of(name) for name in [*catalog.streams, *catalog.published]}
    return {name: schema.declared() for name, schema in schemas.items() if schema is not None}


def utf16(line: str, column: int) -> int:
    """The column that most editors count, in units of UTF-16, of a column in characters."""
    return len(line[:column].encode("utf-16-le")) // 2


def characters(line: str, units: int) -> int:
    """The inverse of `utf16`."""
    return len(line.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))


def lines_of(text: str) -> Sequence[str]:
    """The lines of a text, as editors count them."""
    return text.split("\n")
