"""Opens files of events in any format. Each format has its own module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, final, get_args

import typer

from ..events import DefinitionError, StreamDefinition, TimeUnit
from ..events.file_form import TIME_COLUMN, USUAL_FORM, FileForm, columns_of_pairs
from .bad_events import BadEvents
from .batch import Item, only_stream, stream_named
from .complaint import BadInput
from .file_times import FileTimes
from .flat_events import FlatEvents
from .json_lines import Gathering, read_json_lines
from .sources import STANDARD_INPUT, opened, place_of, suffix_of

Format: TypeAlias = Literal["jsonl", "csv", "tsv", "parquet"]

FORMATS: Final[Mapping[str, Format]] = MappingProxyType({each: each for each in get_args(Format)})
_SUFFIXES: Final[Mapping[str, Format]] = MappingProxyType(
    {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
)

FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option("--events-format", help="The format of the events; by default by the file's suffix."),
]
StreamOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--stream", metavar="NAME", help="The stream of events that name none; by default the only one."),
]
SortOption: TypeAlias = Annotated[bool, typer.Option("--sort", help="Sort the events of all files by time first.")]
TimeOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="The column of the times where events name no stream; 'time'."),
]


@final
@dataclass(frozen=True, slots=True)
class FormOptions:
    """The options of a command that say how its files write the events of a stream."""

    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=ATTRIBUTE",
            help="The column of an attribute that has another name, or its path such as user.name; may be repeated.",
        ),
    ] = None
    separator: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What is between the fields of CSV, such as ';'.")
    ] = None
    decimal: Annotated[
        str | None, typer.Option(metavar=".|,", help="What is before the fraction of a number in CSV.")
    ] = None
    time_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="The format of the times, such as '%d.%m.%Y %H:%M:%S'.")
    ] = None

    def said(self) -> FileForm:
        """The form that they say. Raises BadInput."""
        pairs = [each.rpartition("=")[::2] for each in self.column or ()]
        for each, (source, name) in zip(self.column or (), pairs):
            if not source or not name:
                raise BadInput(f"--column: expected COLUMN=ATTRIBUTE, found {each!r}")
        try:
            return FileForm(columns_of_pairs(pairs), self.separator, self.decimal, self.time_format)
        except DefinitionError as error:
            what, _, rest = str(error).partition(": ")
            raise BadInput(f"--{what.replace('_', '-').replace('columns', 'column')}: {rest}") from None


AS_DECLARED: Final = FormOptions()


def with_form_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that has the options of FormOptions in place of its parameter `form`."""
    own = list(signature(command, eval_str=True).parameters.values())
    at = [each.name for each in own].index("form")
    options = signature(FormOptions, eval_str=True).parameters

    @wraps(command)
    def called(**given: Any) -> Any:
        return command(form=FormOptions(**{name: given.pop(name) for name in options}), **given)

    called.__signature__ = Signature([*own[:at], *options.values(), *own[at + 1 :]])  # type: ignore[attr-defined]
    return called


@final
@dataclass(frozen=True, slots=True)
class EventReader:
    """An open file of events. `extent` is the position of its end, or None if unknown; places count `unit`s.

    Without a place, each event says where it is in words.
    """

    items: Iterator[Item]
    place: str
    unit: Literal["line", "row"]
    extent: int | None

    def where(self, place: int | str) -> str:
        """How messages call the place of an event."""
        return place if isinstance(place, str) else f"{self.place}: {self.unit} {place}"


@final
class Reading:
    """How one command reads its files: what they contain, and what they share.

    `stream`, `time` and `form` are for events that name no stream, as in CSV and Parquet; what `form` leaves open is as
    the stream says. `unit`: that of times that are numbers; None: each stream's own.
    """

    __slots__ = ("_gathering", "bad", "format", "stream", "streams", "time", "times")

    def __init__(
        self,
        streams: Mapping[str, StreamDefinition],
        format: Format | None = None,
        stream: str | None = None,
        time: str | None = None,
        unit: TimeUnit | None = None,
        bad: BadEvents | None = None,
        form: FileForm = USUAL_FORM,
    ) -> None:
        if form != USUAL_FORM:
            chosen = only_stream(streams) if stream is None else stream_named(streams, stream)
            streams = {**streams, chosen.name: replace(chosen, files=form.over(chosen.files))}
        self.streams = streams
        self.format = format
        self.stream = stream
        self.time = time or self._time_column()
        self.times = FileTimes(streams, unit)
        self.bad = BadEvents() if bad is None else bad
        self._gathering: Gathering | None = None

    @contextmanager
    def open(self, file: str) -> Iterator[EventReader]:
        """Open a file, `-` being standard input; close it at the end of the block. Raises OSError and errors with their
        place."""
        kind = self.format or format_of(file)
        place = place_of(file)
        with opened(file) as (source, extent):
            if kind == "jsonl":
                yield EventReader(read_json_lines(source, place, self._lines()), place, "line", extent)  # type: ignore[arg-type]  # it has read1
                return
            definition = self.definition()
            if kind in ("csv", "tsv"):
                from .csv_rows import read_csv

                separator = self.separator(kind)
                rows = read_csv(source, place, definition, self.time, self.times, self.bad, separator)
                yield EventReader(rows, place, "line", extent)
                return
            from .parquet_rows import open_parquet, read_parquet

            whole = extent is None or file == STANDARD_INPUT
            strings = [each.name for each in definition.schema.attributes if each.type == "string"]
            texts = {definition.files.column(name) for name in strings} - {self.time}
            with open_parquet(source.read() if whole else file, place, texts) as table:
                rows = read_parquet(table, place, definition, self.time, self.times, self.bad)
                yield EventReader(rows, place, "row", table.metadata.num_rows)

    def definition(self) -> StreamDefinition:
        """The stream of events that name none. Raises UnknownStream, DefinitionError."""
        return only_stream(self.streams) if self.stream is None else stream_named(self.streams, self.stream)

    def separator(self, kind: Format) -> str:
        """What is between the fields of a file of CSV or TSV. Raises as `definition`."""
        return self.definition().files.separator or ("\t" if kind == "tsv" else ",")

    def _time_column(self) -> str:
        known = self.streams.get(self.stream) if self.stream is not None else None
        if self.stream is None and len(self.streams) == 1:
            known = next(iter(self.streams.values()))
        if known is None or known.schema.position(TIME_COLUMN) >= 0:
            return TIME_COLUMN
        return known.files.column(TIME_COLUMN)

    def _lines(self) -> Gathering:
        if self._gathering is None:  # one for all files, which numbers their events
            flat = None if self.stream is None else FlatEvents(self.definition(), self.time)
            self._gathering = Gathering(self.streams, self.times, self.bad, flat)
        return self._gathering


def format_of(file: str) -> Format:
    """The format that a file's suffix tells."""
    return _SUFFIXES.get(suffix_of(file), "jsonl")
