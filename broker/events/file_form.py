"""How files of other programs write the events of a stream: the columns of its attributes, numbers and times.

A source column is named as the file has it (`Order ID`) or, in nested objects and structs, by its path (`user.name`).
Not here: reading files (broker.command).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard, final

from .errors import DefinitionError, EventError, shown
from .instant import UNITS
from .names import is_attribute
from .nearest import suggestion
from .schema import Schema
from .time_unit import instant_of

TIME_COLUMN: Final = "time"
"""The target of the column that has the times, unless an attribute has this name."""
DEPTH_MAX: Final = 8
"""So deep nested objects have paths."""

_SEPARATORS: Final[Mapping[str, str]] = {"\\t": "\t", "tab": "\t"}
_TRIED: Final = datetime(2024, 11, 23, 22, 51, 37, tzinfo=UTC)
_OTHERS: Final = re.compile(r"[^A-Za-z0-9_]+")
_LETTERS: Final = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"})


@final
@dataclass(frozen=True, slots=True)
class FileForm:
    """`columns`: by attribute, the source column, where that has another name; that of TIME_COLUMN has the times.

    `separator` of CSV; `decimal`: the character between a number and its fraction in CSV; `time_format`: that of
    strptime for times, in UTC without a zone. Raises DefinitionError.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    separator: str | None = None
    decimal: str | None = None
    time_format: str | None = None

    def __post_init__(self) -> None:
        given: object = self.separator  # from a file of any values
        if given is not None:
            separator = _SEPARATORS.get(given, given) if isinstance(given, str) else ""
            if len(separator) != 1 or separator in '"\r\n\0':
                raise DefinitionError(f"separator: expected one character such as ; or tab, found {shown(given)}")
            object.__setattr__(self, "separator", separator)
        if self.decimal not in (None, ".", ","):
            raise DefinitionError(f"decimal: expected . or , found {shown(self.decimal)}")
        if self.time_format is not None:
            _check_format(self.time_format)

    def over(self, other: FileForm) -> FileForm:
        """This form, and what it leaves open as the other has it."""
        return FileForm(
            {**other.columns, **self.columns},
            self.separator or other.separator,
            self.decimal or other.decimal,
            self.time_format or other.time_format,
        )

    def column(self, attribute: str) -> str:
        """The column of an attribute."""
        return self.columns.get(attribute, attribute)

    def check(self, schema: Schema) -> None:
        """Raise DefinitionError for a target that is no attribute."""
        for name in self.columns:
            if schema.position(name) < 0 and name != TIME_COLUMN:
                hint = suggestion(name, schema.names)
                raise DefinitionError(f"columns: expected the name of an attribute, or time, found {shown(name)}{hint}")

    def renamed(self, header: Sequence[str], schema: Schema) -> list[str]:
        """The header of a table, with the attributes' names for their columns. Raises EventError for a missing one."""
        sources = {column: name for name, column in self.columns.items() if schema.position(name) >= 0}
        for column, name in sources.items():
            if column not in header:
                raise EventError(f"expected a column {column!r} for {name!r}, found none{suggestion(column, header)}")
        return [sources.get(each, "" if each in self.columns and each in schema.names else each) for each in header]


USUAL_FORM: Final = FileForm()
"""Of files that are written as our own are."""


def columns_of_pairs(pairs: Iterable[tuple[str, object]]) -> dict[str, str]:
    """The columns of a form from pairs of source column and attribute. Raises DefinitionError."""
    found: dict[str, str] = {}
    for column, name in pairs:
        if not isinstance(name, str):
            raise DefinitionError(f"columns: expected the name of an attribute for {column!r}, found {shown(name)}")
        if name in found:
            raise DefinitionError(f"columns: expected one column for {name!r}, found {found[name]!r} and {column!r}")
        found[name] = column
    return found


def paths_of(record: Mapping[str, object], depth: int = DEPTH_MAX) -> dict[str, object]:
    """The values of an object and of the objects in it, these by their paths, in their order. A key is before a path of
    its name. A path through a list of objects has the list of what is there in each, without nulls."""
    found: dict[str, object] = {}
    for key, value in record.items():
        inner: Mapping[str, object] = {}
        if depth and isinstance(value, dict):
            inner = paths_of(value, depth - 1)
        elif depth and _of_objects(value):
            inner = _of_each(value, depth - 1)
        if not inner:
            found[key] = value
        for path, each in inner.items():
            found.setdefault(f"{key}.{path}", each)
    return found


def is_nested(record: Mapping[Any, object]) -> bool:
    """Whether an object has others in it, whose values have paths."""
    return any(isinstance(value, dict) or _of_objects(value) for value in record.values())


def _of_objects(value: object) -> TypeGuard[list[dict[str, object]]]:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(each, dict) for each in value)


def _of_each(objects: Sequence[Mapping[str, object]], depth: int) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for each in objects:
        for path, value in paths_of(each, depth).items():
            if value is not None:
                found.setdefault(path, []).extend(value if isinstance(value, list) else (value,))
    return found


def legal_name(column: str, taken: Iterable[str] = (), paths: bool = False) -> str:
    """A name that an attribute may have for a column of any name, other than those that are taken. `paths`: one with
    dots may stay as it is."""
    if paths and is_attribute(column) and column not in taken:
        return column
    plain = unicodedata.normalize("NFKD", column.translate(_LETTERS)).encode("ascii", "ignore").decode()
    name = (column if _OTHERS.search(column) is None else _OTHERS.sub("_", plain).strip("_"))[:100] or "column"
    name, others, count = f"_{name}" if name[0].isdigit() else name, set(taken), 1
    unique = name
    while unique in others:
        count += 1
        unique = f"{name}_n{count}"
    return unique


def column_hint(name: str, header: Iterable[str]) -> str:
    """What to write where an attribute has no column of its name, but one that is nearly called so."""
    for each in header:
        if each != name and name.lower() in (legal_name(each).lower(), each.rpartition(".")[2].lower()):
            return f"; write --column {f'{each}={name}'!r}"
    return suggestion(name, header)


def formatted_instant(text: str, format: str) -> int:
    """The instant of a text in a format of strptime; without a zone it is in UTC. Raises EventError."""
    try:
        moment = datetime.strptime(text.strip(), format)  # noqa: DTZ007  # the zone follows
    except ValueError:
        raise EventError(f"expected a time in the format {format!r}, found {shown(text)}") from None
    return instant_of(moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC))


def _check_format(written: object) -> None:
    try:
        if isinstance(written, str):
            tried = instant_of(_TRIED)
            read = formatted_instant(_TRIED.strftime(written), written)
            if tried - 24 * UNITS["hour"] < read <= tried:
                return
    except EventError:
        pass
    expected = "expected a format with year, month and day such as '%d.%m.%Y %H:%M:%S'"
    raise DefinitionError(f"time_format: {expected}, found {shown(written)}")
