"""Writes results as a table: CSV, Parquet or text in columns. Columns and their types are known only at the end, so the
results wait in a temporary file; memory does not grow with their number.

A result has a column for each of its fields and each of its values; a value whose name is a field's is `data.NAME`.
What is no plain value, such as bindings, is JSON in its column.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TextIO, TypeAlias, final

from ..events import format_instant
from ..events.schema import TEXTS
from .complaint import BadInput, escaped
from .results import JsonLines, ResultSink, json_line

if TYPE_CHECKING:
    import pyarrow

ResultFormat: TypeAlias = Literal["jsonl", "csv", "parquet", "table"]
TimesAs: TypeAlias = Literal["us", "iso"]

ROWS: Final = 10_000
"""So many rows are converted at once."""
WIDTH_MAX: Final = 40
"""A longer text is cut in a table of text."""
TIMES: Final = ("start", "end", "time", "since")
_FIELDS: Final = ("kind", "subscription", "id", *TIMES, "lineage", "bindings", "lifetime", "tuples")
_KINDS: Final[Mapping[str, ResultFormat]] = {".jsonl": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet"}


def sink_of(out: Path | None, format: ResultFormat | None, output: TextIO, times: TimesAs) -> ResultSink:
    """Where results go: to a file, whose suffix is the format if none is said, or to the output. Raises BadInput."""
    kind = format
    if out is not None:
        kind = kind or _KINDS.get(out.suffix.lower())
        if kind is None:
            found = out.suffix or "no suffix"
            raise BadInput(f"{out}: expected a name that ends in .jsonl, .csv or .parquet, or --format, found {found}")
        if not out.absolute().parent.is_dir():
            raise BadInput(f"{out}: expected a folder that exists, found none of the name {out.parent}")
        if kind == "parquet":
            pyarrow_of(out)
    elif kind == "parquet":
        raise BadInput("--format parquet: expected --out FILE, found none: Parquet is no text")
    if kind is None or kind == "jsonl":
        if out is None:
            return JsonLines(output, times)
        return JsonLines(open(out, "w", encoding="utf-8"), times, owned=True)  # the sink closes it
    return ResultColumns(kind, out, output, times)


def pyarrow_of(out: Path) -> Any:
    """The package that writes Parquet. Raises BadInput if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            f"{out}: writing Parquet needs pyarrow, which is not installed: pip install 'foretell[parquet]'"
        ) from None
    return pyarrow


@final
class ResultColumns:
    """Collects results, and writes them when it is closed: to a file, or as text to the output."""

    def __init__(self, kind: ResultFormat, out: Path | None, output: TextIO, times: TimesAs) -> None:
        self._kind = kind
        self._out = out
        self._output = output
        self._times = times
        self._spool: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed in `close`
        self._types: dict[str, set[str]] = {}

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Take results."""
        for line in lines:
            row = _flat(line)
            for name, value in row.items():
                self._types.setdefault(name, set()).add(_kind(value))
            self._spool.write(json_line(row))

    def flush(self) -> None:
        """Nothing can be written before the end."""

    def close(self) -> None:
        """Write everything."""
        names = sorted(self._types, key=lambda name: _FIELDS.index(name) if name in _FIELDS else len(_FIELDS))
        if self._out is None:
            self._write(self._output, names)
            self._output.flush()
        else:
            part = self._out.with_name(f".{self._out.name}.part")
            if self._kind == "parquet":
                self._write_parquet(part, names)
            else:
                with open(part, "w", encoding="utf-8", newline="") as file:
                    self._write(file, names)
            os.replace(part, self._out)
        self._spool.close()

    def _rows(self) -> Iterator[dict[str, Any]]:
        self._spool.seek(0)
        for line in self._spool:
            yield json.loads(line)

    def _cell(self, name: str, value: Any) -> Any:
        if value is None:
            return ""
        if name in TIMES and self._times == "iso" and type(value) is int:
            return format_instant(value)
        if name == "lineage":
            return " ".join(map(str, value))
        return value if isinstance(value, str | int | float) and type(value) is not bool else json_line(value)[:-1]

    def _write(self, file: TextIO, names: list[str]) -> None:
        if self._kind == "csv":
            self._write_csv(file, names)
        else:
            self._write_text(file, names)

    def _write_csv(self, file: TextIO, names: list[str]) -> None:
        writer = csv.writer(file, lineterminator="\r\n" if self._out is not None else "\n")
        writer.writerow(names)
        for row in self._rows():
            writer.writerow([self._cell(name, row.get(name)) for name in names])

    def _write_text(self, file: TextIO, names: list[str]) -> None:
        def cells(row: Mapping[str, Any]) -> list[str]:
            return [_cut(str(self._cell(name, row.get(name)))) for name in names]

        widths = [len(_cut(name)) for name in names]
        for row in self._rows():
            widths = [max(width, len(cell)) for width, cell in zip(widths, cells(row))]
        if names:
            self._write_row(file, [_cut(name) for name in names], widths)
        for row in self._rows():
            self._write_row(file, cells(row), widths)

    def _write_row(self, file: TextIO, cells: list[str], widths: list[int]) -> None:
        file.write("  ".join([cell.ljust(width) for cell, width in zip(cells, widths)]).rstrip() + "\n")

    def _write_parquet(self, part: Path, names: list[str]) -> None:
        assert self._out is not None
        pyarrow = pyarrow_of(self._out)
        fields = [pyarrow.field(name, self._type(pyarrow, name)) for name in names]
        schema = pyarrow.schema(fields)
        with pyarrow.parquet.ParquetWriter(part, schema) as writer:
            held: list[dict[str, Any]] = []
            for row in self._rows():
                held.append(row)
                if len(held) == ROWS:
                    writer.write_table(self._table(pyarrow, schema, held))
                    held = []
            if held:
                writer.write_table(self._table(pyarrow, schema, held))

    def _type(self, pyarrow: Any, name: str) -> pyarrow.DataType:
        if name in TIMES and self._times == "iso":
            return pyarrow.timestamp("us", tz="UTC")
        if name == "lineage":
            return pyarrow.list_(pyarrow.int64())
        kinds = self._types[name] - {"NoneType"}
        if kinds == {"int"}:
            return pyarrow.int64()
        if kinds and kinds <= {"int", "float"}:
            return pyarrow.float64()
        if kinds == {TEXTS}:
            return pyarrow.list_(pyarrow.string())
        return pyarrow.bool_() if kinds == {"bool"} else pyarrow.string()

    def _table(self, pyarrow: Any, schema: Any, rows: list[dict[str, Any]]) -> Any:
        columns = []
        for field in schema:
            values = [row.get(field.name) for row in rows]
            if str(field.type) == "string":
                values = [value if isinstance(value, str | None) else json_line(value)[:-1] for value in values]
            elif str(field.type) == "double":
                values = [None if value is None else float(value) for value in values]
            columns.append(pyarrow.array(values, field.type))
        return pyarrow.Table.from_arrays(columns, schema=schema)


def _kind(value: object) -> str:
    texts = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return TEXTS if texts else type(value).__name__


def _flat(line: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in line.items() if name != "data"}
    for name, value in line.get("data", {}).items():
        row[f"data.{name}" if name in line or name in _FIELDS else name] = value
    return row


def _cut(text: str) -> str:
    text = escaped(text)
    return text if len(text) <= WIDTH_MAX else text[: WIDTH_MAX - 1] + "…"
