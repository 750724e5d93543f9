"""`foretell new`: writes a first subscription file for the events of a CSV, TSV, Parquet or JSON lines file.

Types, the column of the times with its unit, and a key are guessed from the first rows, and the file says what was
guessed. Wrong guesses are corrected by hand; `foretell check --events` names them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Final, final

import typer

from ..events import EventError, StreamDefinition, TimeUnit, instant_of, likely_unit, shown, suggestion
from ..events.file_form import TIME_COLUMN, USUAL_FORM, FileForm, legal_name
from ..events.names import checked_attribute, checked_name
from ..events.schema import TEXTS, Schema
from ..language.names import DEFAULT_LANGUAGE
from .complaint import BadInput, escaped
from .csv_rows import header_of, lines_of, other_separator
from .file_times import FileTimes
from .flat_events import objects_of
from .reading import AS_DECLARED, Format, FormatOption, FormOptions, Reading, format_of, with_form_options
from .scanning import COMMA, OTHERS, ROWS_MAX, TWICE, ColumnFindings, divides, note, rows_of
from .sources import STANDARD_INPUT, opened, place_of

SAMPLE: Final = 1_000
"""So many values decide whether a column has the times."""
_UNNAMED: Final = "_"
_USUAL: Final = ("time", "timestamp", "ts", "datetime", "date_time", "event_time", "date")
_DATES: Final = (
    *("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y"),
    *("%d.%m.%y", "%m/%d/%y", "%d %b %Y", "%b %d, %Y"),
)
_TIMES: Final = ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p")
_FORMATS: Final = (*(date + time for date in _DATES for time in _TIMES), "%d/%b/%Y:%H:%M:%S %z")
_NUMERIC: Final = ("%Y%m%d", "%Y%m%d%H%M%S")
_COMPACT: Final = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9](?:[0-9]{6})?")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,9})?")
_RESERVED: Final = frozenset({"NOT", "TRUE", "FALSE", "DUR"})
_NUMBERED: Final = re.compile(r".*_[0-9]+")


@final
@dataclass(slots=True)
class Guess:
    """What was found of one stream. `time`: the column of its times, None for events that have their own place for it;
    `unit`: that of its numbers, None: microseconds, or text; `form`: how the file writes them; `wrong`: so many lines
    cannot be read; `late`: a row is earlier than one before."""

    columns: dict[str, ColumnFindings] = field(default_factory=dict)
    samples: dict[str, list[Any]] = field(default_factory=dict)
    rows: int = 0
    time: str | None = None
    unit: TimeUnit | None = None
    form: FileForm = USUAL_FORM
    wrong: int = 0
    late: bool = False

    def add(self, values: Mapping[str, Any], texts: bool, place: str) -> None:
        self.rows += 1
        note(self.columns, values, self.form if texts else None, place)
        if self.rows <= SAMPLE:
            for key, value in values.items():
                self.samples.setdefault(key, []).append(value)


@with_form_options
def new(
    events: Annotated[str, typer.Argument(metavar="FILE", help="The events; '-' is standard input.")],
    out: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Write to this new file instead of standard output.")
    ] = None,
    events_format: FormatOption = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help="The stream of events that name none; by default from the file.")
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the times.")] = None,
    form: FormOptions = AS_DECLARED,
) -> None:
    """Write a first subscription file for a file of events: types, times and key are guessed and shown."""
    if out is not None and out.exists():
        raise BadInput(f"{out}: expected a new file, found one that exists")
    text = first_file(
        events,
        look_at(events, stream, time, events_format, form.said()),
        quote("SUBS.toml" if out is None else str(out)),
        events_format,
    )
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")


def look_at(
    events: str, stream: str | None, time: str | None, format: Format | None = None, form: FileForm = USUAL_FORM
) -> dict[str, Guess]:
    """What the first rows of a file tell of each stream, by its name. Raises BadInput as `look` does."""
    name = stream_name(events) if stream is None else checked_name(stream, "stream")
    guesses = look(events, format, time, form)
    return {name if each == _UNNAMED else each: guess for each, guess in guesses.items()}


def first_file(events: str, guesses: Mapping[str, Guess], file: str, format: Format | None = None) -> str:
    """The text of a first subscription file for what was found in a file of events."""
    plain = (format or format_of(events)) == "jsonl"
    options = "" if format is None else f" --events-format {format}"
    options += "".join(
        f" --stream {name}" * plain + f" --time {quote(guess.time)}" * (guess.time != TIME_COLUMN)
        for name, guess in guesses.items()
        if guess.time is not None
    )
    options += " --sort" * any(guess.late for guess in guesses.values())
    options += " --on-bad skip" * any(guess.wrong for guess in guesses.values())
    rows = sum(guess.rows for guess in guesses.values())
    lines = [
        f"# Guessed from {'the first ' if rows == ROWS_MAX else ''}{rows:,} rows of {escaped(events)}. Try it:",
        f"#   foretell run {escaped(file)} --events {escaped(quote(events))}{options}",
    ]
    for at, (each, guess) in enumerate(guesses.items()):
        lines += described(each, guess, "first" if at == 0 else f"first-{at + 1}")
    return "\n".join(lines) + "\n"


def look(events: str, format: Format | None, time: str | None, form: FileForm) -> dict[str, Guess]:
    """What the first rows tell of each stream. Raises BadInput if there are no rows, or if they have no times."""
    place = place_of(events)
    wrong: list[str] = []
    found: dict[str, Guess] = {}
    if form.separator is None and (format or format_of(events)) in ("csv", "tsv"):
        form = replace(form, separator=separator_of(events, "\t" if (format or format_of(events)) == "tsv" else ","))
    # Which column has which attribute is known at the end, since other columns have names of ours.
    stream = StreamDefinition(_UNNAMED, Schema(()), files=replace(form, columns={}))
    time = time or form.columns.get(TIME_COLUMN)
    reading = Reading({_UNNAMED: stream}, format, _UNNAMED, time)
    for at, name, _, values, texts in islice(rows_of(reading, events, wrong), ROWS_MAX):
        found.setdefault(name, Guess(form=form)).add(values, texts, at)
    if len(wrong) > sum(each.rows for each in found.values()) or not found:
        raise BadInput(f"{place}: expected events, found {wrong[0].removeprefix(f'{place}: ') if wrong else 'none'}")
    for each in found.values():
        each.wrong = len(wrong)
    plain = found.get(_UNNAMED)
    if plain is not None:
        plain.time, plain.unit, plain.form = time_column(time, plain.samples, place, plain.form)
        for column, name in ((column, name) for name, column in form.columns.items() if name != TIME_COLUMN):
            if column not in plain.columns:
                raise BadInput(f"{place}: expected a column {column!r}, found none{suggestion(column, plain.columns)}")
            checked_attribute(name)
    late = events != STANDARD_INPUT and is_late(events, format, found)
    for each in found.values():
        each.late = late
    return found


def is_late(events: str, format: Format | None, found: Mapping[str, Guess]) -> bool:
    """Whether one of the first rows of a file is earlier than one before. Reads them again, now with their times."""
    streams = {
        name: StreamDefinition(name, Schema(()), time_unit=guess.unit, files=replace(guess.form, columns={}))
        for name, guess in found.items()
    }
    plain = found.get(_UNNAMED)
    reading = Reading(streams, format, None if plain is None else _UNNAMED, None if plain is None else plain.time)
    newest: int | None = None
    for _, name, time, _, texts in islice(rows_of(reading, events, []), ROWS_MAX):
        with suppress(EventError):
            moment = reading.times.text(time, name) if texts else reading.times.instant(time, name)
            if newest is not None and moment < newest:
                return True
            newest = moment
    return False


def separator_of(events: str, usual: str) -> str | None:
    """What is between the columns of a file of CSV; None: what is usual. Nothing is read from standard input."""
    if events == STANDARD_INPUT:
        return None
    with opened(events) as (source, _), suppress(EventError):
        return other_separator(header_of(csv.reader(lines_of(source), delimiter=usual)), usual)
    return None


def stream_name(file: str) -> str:
    """The name of a file as that of a stream: letters and digits, each word with a capital."""
    stem = "Events" if file == STANDARD_INPUT else Path(file).name.partition(".")[0]
    words = "".join(each if each.isascii() and each.isalnum() else " " for each in stem).split()
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"Events{name}"


def time_column(
    asked: str | None, samples: Mapping[str, Sequence[Any]], place: str, form: FileForm
) -> tuple[str, TimeUnit | None, FileForm]:
    """The column of the times, their unit, and the form with their format. Raises BadInput if no column fits."""
    if asked is not None and asked not in samples:
        raise BadInput(f"{place}: expected a column {asked!r}, found none{suggestion(asked, samples)}")
    usual = [each for word in _USUAL for each in samples if each.lower() == word]
    candidates = [*usual, *samples] if asked is None else [asked]
    for each in candidates if form.time_format is None else ():
        try:
            return each, unit_of(samples[each], any_number=each in (*usual, asked)), form
        except EventError:
            continue
    for each in candidates:
        formats = _FORMATS + _NUMERIC * (each in (*usual, asked)) if form.time_format is None else (form.time_format,)
        for format in formats:
            times = FileTimes({_UNNAMED: StreamDefinition(_UNNAMED, Schema(()), files=FileForm(time_format=format))})
            with suppress(EventError):
                for value in samples[each]:
                    times.instant(value if type(value) in (str, int) else None, _UNNAMED)
                return each, None, replace(form, time_format=format)
    if asked is not None:
        found = f"found {shown(samples[asked][0])}; --time-format says how they are written"
        raise BadInput(f"{place}: expected times in column {asked!r}, {found}")
    lists = [each for each, values in samples.items() if "." in each and values and isinstance(values[0], list)]
    hint = objects_of(lists[0].partition(".")[0]) if lists else f"; columns are {', '.join(list(samples)[:8])}"
    raise BadInput(f"{place}: expected a column of times, found none; --time COLUMN names it{hint}")


def unit_of(values: Sequence[Any], any_number: bool) -> TimeUnit | None:
    """The unit in which all values are times. Raises EventError if they are none.

    `any_number`: of a column that the user or its name calls times, so that a clock may start at zero.
    """
    numbers = [number_of(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) < len(values):
        for value in values:
            instant_of(value)
        return None
    unit = likely_unit(int(known[0]))
    counts = any_number and _COMPACT.fullmatch(str(known[0])) is None  # a clock of its own
    if unit is None and not counts and not 10**15 <= known[0] < 4 * 10**15:
        raise EventError("expected a time")
    for number in known:
        instant_of(number, unit)
    return unit


def number_of(value: object) -> int | float | None:
    """The number that a value of a file is or writes; None if it is none."""
    if isinstance(value, str):
        text = value.strip()
        return None if _NUMBER.fullmatch(text) is None else float(text) if "." in text else int(text)
    if type(value) is int or (type(value) is float and isfinite(value)):
        return value
    return None


def described(stream: str, guess: Guess, subscription: str) -> Iterator[str]:
    """The lines of a stream, and of a query of it that a newcomer can change."""
    columns = {name: column for name, column in guess.form.columns.items() if name != TIME_COLUMN}
    named = {column: name for name, column in columns.items()}
    kinds: dict[str, str] = {}
    comma = guess.form.decimal == ","
    for name, column in guess.columns.items():
        if name == guess.time and name not in named:
            continue
        mixed = TEXTS in column.kinds and len(set(column.kinds) - {"null"}) > 1
        if mixed or not set(OTHERS).isdisjoint(column.kinds):
            what = "its values are no texts, numbers or booleans, nor lists of texts alone"
            what = "the file has it twice" if TWICE in column.kinds else what
            yield f"# Left out: {escaped(repr(name))}; {what}"
            continue
        if set(column.kinds) <= {"null", TEXTS} and any(each.startswith(f"{name}.") for each in guess.columns):
            continue  # an object that is null, or an empty list of them
        kinds[name] = type_of(column, guess.rows)
        comma = comma or (COMMA in column.kinds and kinds[name].startswith("float"))
    legal = {name for name in kinds if legal_name(name, paths=True) == name and name.upper() not in _RESERVED}
    for name in kinds:
        if name not in named and name not in legal:
            plain = legal_name(name, paths=True)
            named[name] = legal_name(f"{plain}_" * (plain.upper() in _RESERVED) or plain, {*named.values(), *legal})
            columns[named[name]] = name
    attributes = {named.get(name, name): kind for name, kind in kinds.items()}
    keys = [
        named.get(name, name)
        for kind in ("string", "int")
        for name in kinds
        if kinds[name] == kind and divides(guess.columns[name], guess.rows)
    ]
    yield ""
    yield f"[streams.{stream}]"
    yield "attributes = { " + ", ".join(f'{_key(name)} = "{kind}"' for name, kind in attributes.items()) + " }"
    if guess.unit is not None:
        yield f'time_unit = "{guess.unit}"'
    if guess.form.time_format is not None:
        yield f"time_format = {toml_text(guess.form.time_format)}"
    if guess.form.separator is not None:
        yield f"separator = {toml_text(guess.form.separator)}"
    if comma:
        yield 'decimal = ","'
    if keys:
        others = f"  # also possible: {', '.join(keys[1:4])}" if len(keys) > 1 else ""
        yield f'key = "{keys[0]}"{others}'
    if columns:
        yield f"[streams.{stream}.columns]"
        yield from (f"{toml_text(column)} = {toml_text(name)}" for name, column in columns.items())
    yield from first_query(stream, attributes, keys[0] if keys else None, subscription)


def _key(name: str) -> str:
    return toml_text(name) if "." in name else name


def toml_text(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=not text.isprintable()).replace("\x7f", "\\u007f")


def first_query(stream: str, attributes: Mapping[str, str], key: str | None, subscription: str) -> Iterator[str]:
    """The lines of a query of a stream that a newcomer can change."""
    yield ""
    yield f"[subscriptions.{subscription}]"
    yield f'language = "{DEFAULT_LANGUAGE}"'
    numbers = [name for kind in ("float", "int") for name in attributes if attributes[name].startswith(kind)]
    rising = [name for name in numbers if name != key]
    # $1 and $2 have their attributes as price_1 and price, which others may be called, too.
    if not rising or any(_NUMBERED.fullmatch(name) for name in attributes):
        yield f'query = "SELECT * FROM {stream}"'
        return
    joined = "TRUE" if key is None else f"$2.{key} = $1.{key}"
    yield f"# {rising[0]} rises from one event to the next" + ("." if key is None else f" of the same {key}.")
    yield f'query = "SELECT * FROM FILTER{{{rising[0]} > {rising[0]}_1}}({stream} NEXT{{{joined}}} {stream})"'


def type_of(column: ColumnFindings, rows: int) -> str:
    """The type of an attribute that takes all values of a column; rows without one are null."""
    kinds = set(column.kinds) - {"null"}
    if len(kinds) == 1 and not kinds.isdisjoint({"int", "bool", TEXTS}):
        found = kinds.pop()
    else:
        found = "float" if kinds and (kinds <= {"int", "float"} or kinds <= {"int", COMMA}) else "string"
    missing = "null" in column.kinds or sum(count for count, _ in column.kinds.values()) < rows
    return f"{found}?" if missing else found
