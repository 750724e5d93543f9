"""Maps the columns of a foreign table to a stream's events, and lists its files. Not here: reading them.

Errors in the columns of a table are found before a job starts, from its header alone: a missing column, or one whose
type cannot fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final, get_args

from broker.events import Attribute, DefinitionError, StreamDefinition, shown, suggestion

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

Format: TypeAlias = Literal["jsonl", "csv", "parquet"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

FILES_MAX: Final = 2**22
"""The most files of a history: a derived id has 22 bits for the file and 40 for the row."""
ROW_BITS: Final = 40

_SUFFIXES: Final[Mapping[str, Format]] = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_PACKED: Final = ".gz"


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table whose rows are events of one stream.

    `attributes`: the column of each attribute whose column has another name. `start`: None for events without duration.
    `id`: None if ids are derived from the rows: row N of the first file has the id N, as in `foretell run`, and row N
    of the file K+1 (by name) the id K * 2**40 + N. Other columns of the table are ignored. A column of a struct or of a
    nested object is named by its path; separator, decimal comma and format of times are those of the stream's `files`.
    """

    stream: StreamDefinition
    time: str = "time"
    id: str | None = None
    start: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = {name: at for name, at in self.stream.files.columns.items() if self.stream.schema.position(name) >= 0}
        object.__setattr__(self, "attributes", {**own, **self.attributes})  # what is said here is before the stream's
        for name in self.attributes:
            if self.stream.schema.position(name) < 0:
                hint = suggestion(name, self.stream.schema.names)
                raise DefinitionError(
                    f"stream {self.stream.name!r}: expected the name of an attribute, found {shown(name)}{hint}"
                )

    def of(self, attribute: Attribute) -> str:
        """The column of an attribute."""
        return self.attributes.get(attribute.name, attribute.name)

    def needed(self, header: Sequence[str], place: str) -> list[str]:
        """The columns to read, each once. Raises DefinitionError if one is not in the header."""
        wanted = {column: what for what, column in (("start", self.start), ("id", self.id)) if column is not None}
        wanted[self.time] = "time"
        for attribute in self.stream.schema.attributes:
            column = self.of(attribute)
            if attribute.nullable and attribute.name not in self.attributes and column not in header:
                continue  # all its values are null
            wanted.setdefault(column, f"attribute {attribute.name!r}")
        for column, what in wanted.items():
            count = list(header).count(column)
            if count != 1:
                hint = suggestion(column, header) if not count else ""
                wanting = f"{place}: stream {self.stream.name!r}: expected one column {column!r} ({what})"
                raise DefinitionError(f"{wanting}, found {count}{hint}")
        return list(wanted)


@final
@dataclass(frozen=True, slots=True)
class Files:
    """Files of events. `paths`: files, folders (their files with the format's suffix) and wildcards.

    `format`: by default by suffix, as in `foretell run`; CSV and JSON lines may have `.gz` behind it. `columns`: the
    mapping of columns; None for files that need none: the broker's JSON lines, and Parquet in the form of a history. A
    file of CSV or JSON lines is read by one task, a Parquet file by row groups.
    """

    paths: tuple[str, ...]
    columns: Columns | None = None
    format: Format | None = None

    def __post_init__(self) -> None:
        paths: object = self.paths
        if not isinstance(paths, tuple) or not all(isinstance(path, str) for path in paths):
            raise DefinitionError(f"expected a tuple of paths, found {shown(paths)}")
        if self.format is not None and self.format not in FORMATS:
            hint = suggestion(str(self.format), FORMATS)
            raise DefinitionError(f"expected a format, one of {', '.join(FORMATS)}, found {shown(self.format)}{hint}")

    def listed(self) -> list[tuple[Path, Format]]:
        """The files in the order of `paths`, within a folder or wildcard by name. Raises DefinitionError."""
        return [found for path in self.paths for found in self._at(path)]

    def _at(self, path: str) -> Iterator[tuple[Path, Format]]:
        place = Path(path)
        if place.is_dir():
            found = [file for file in sorted(place.rglob("*")) if file.is_file() and not _hidden(file, place)]
            if self.format is None:
                found = [file for file in found if _suffix(file) in {*_SUFFIXES, ".jsonl", ".json"}]
        elif place.exists():
            found = [place]
        elif has_magic(path):
            found = [Path(name) for name in sorted(glob(path, recursive=True)) if Path(name).is_file()]
        else:
            raise DefinitionError(f"{path}: expected a file or a folder of events, found none")
        if not found:
            raise DefinitionError(f"{path}: expected files of events, found none")
        for file in found:
            yield file.absolute(), self.format or _SUFFIXES.get(_suffix(file), "jsonl")


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A DataFrame of events. `columns`: None if it is in the form of a history; otherwise they must name an id.

    The id is needed because rows of a DataFrame have no order, and numbers given by Spark change when a task is
    repeated.
    """

    rows: DataFrame
    columns: Columns | None = None

    def __post_init__(self) -> None:
        if self.columns is not None and self.columns.id is None:
            raise DefinitionError(
                f"stream {self.columns.stream.name!r}: expected the column of the ids, because rows of a DataFrame "
                "have no order, found none"
            )


def check_types(header: pyarrow.Schema, columns: Columns, place: str) -> None:
    """Raise DefinitionError if a column is missing or its type cannot fit."""
    from pyarrow import types

    present = set(columns.needed(header.names, place))
    for column, what in ((columns.time, "a time"), (columns.start, "a time"), (columns.id, "an int")):
        if column is None:
            continue
        kind = header.field(column).type
        if not types.is_integer(kind) and (what == "an int" or not _is_time(kind)):
            raise DefinitionError(f"{place}: column {column!r}: expected {what}, found the type {kind}")
    for attribute in columns.stream.schema.attributes:
        column = columns.of(attribute)
        if column in present and not _fits(header.field(column).type, attribute):
            kind = header.field(column).type
            raise DefinitionError(f"{place}: column {column!r}: expected {attribute.type}, found the type {kind}")


def _is_time(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_timestamp(kind) or types.is_date(kind) or _is_text(kind))


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _fits(kind: pyarrow.DataType, attribute: Attribute) -> bool:
    from pyarrow import types

    if types.is_null(kind):
        return attribute.nullable
    match attribute.type:
        case "string":
            return _is_text(kind)
        case "int":
            return bool(types.is_integer(kind))
        case "float":
            return bool(types.is_floating(kind) or types.is_integer(kind))
        case "bool":
            return bool(types.is_boolean(kind))
        case "string[]":
            return bool(types.is_list(kind) or types.is_large_list(kind)) and _is_text(kind.value_type)


def _suffix(file: Path) -> str:
    name = file.name.lower().removesuffix(_PACKED)
    return Path(name).suffix


def _hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
