"""`foretell new`: writes a first subscription file for the events of a CSV, TSV, Parquet or JSON lines file.

Types, the column of the times with its unit, and a key are guessed from the first rows, and the file says what was
guessed. Wrong guesses are corrected by hand; `foretell check --events` names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Final, final

import typer

from ..events import DefinitionError, EventError, StreamDefinition, TimeUnit, instant_of, likely_unit, suggestion
from ..events.names import checked_name
from ..events.schema import Schema
from ..language.names import DEFAULT_LANGUAGE
from .complaint import BadInput, escaped
from .reading import Format, FormatOption, Reading, format_of
from .scanning import ROWS_MAX, ColumnFindings, divides, moment, note, rows_of
from .sources import STANDARD_INPUT, place_of

SAMPLE: Final = 1_000
"""So many values decide whether a column has the times."""
_UNNAMED: Final = "_"
_USUAL: Final = ("time", "timestamp", "ts", "datetime", "date_time", "event_time", "date")


@final
@dataclass(slots=True)
class Guess:
    """What was found of one stream. `time`: the column of its times, None for events that have their own place for it;
    `unit`: that of its numbers, None: microseconds, or text."""

    columns: dict[str, ColumnFindings] = field(default_factory=dict)
    samples: dict[str, list[Any]] = field(default_factory=dict)
    rows: int = 0
    time: str | None = None
    unit: TimeUnit | None = None

    def add(self, values: Mapping[str, Any], texts: bool, place: str) -> None:
        self.rows += 1
        note(self.columns, values, texts, place)
        if self.rows <= SAMPLE:
            for key, value in values.items():
                self.samples.setdefault(key, []).append(moment(value))


def new(
    events: Annotated[str, typer.Argument(metavar="FILE", help="The events; '-' is standard input.")],
    out: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Write to this new file instead of standard output.")
    ] = None,
    format: FormatOption = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help="The stream of events that name none; by default from the file.")
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the times.")] = None,
) -> None:
    """Write a first subscription file for a file of events: types, times and key are guessed and shown."""
    if out is not None and out.exists():
        raise BadInput(f"{out}: expected a new file, found one that exists")
    text = first_file(
        events, look_at(events, stream, time, format), quote("SUBS.toml" if out is None else str(out)), format
    )
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")


def look_at(events: str, stream: str | None, time: str | None, format: Format | None = None) -> dict[str, Guess]:
    """What the first rows of a file tell of each stream, by its name. Raises BadInput as `look` does."""
    name = stream_name(events) if stream is None else checked_name(stream, "stream")
    guesses = look(events, Reading({_UNNAMED: StreamDefinition(_UNNAMED, Schema(()))}, format, _UNNAMED, time), time)
    return {name if each == _UNNAMED else each: guess for each, guess in guesses.items()}


def first_file(events: str, guesses: Mapping[str, Guess], file: str, format: Format | None = None) -> str:
    """The text of a first subscription file for what was found in a file of events."""
    plain = (format or format_of(events)) == "jsonl"
    options = "".join(
        f" --stream {name}" * plain + f" --time {guess.time}" * (guess.time != "time")
        for name, guess in guesses.items()
        if guess.time is not None
    )
    rows = sum(guess.rows for guess in guesses.values())
    lines = [
        f"# Guessed from {'the first ' if rows == ROWS_MAX else ''}{rows:,} rows of {escaped(events)}. Try it:",
        f"#   foretell run {escaped(file)} --events {escaped(quote(events))}{options}",
    ]
    for at, (each, guess) in enumerate(guesses.items()):
        lines += described(each, guess, "first" if at == 0 else f"first-{at + 1}")
    return "\n".join(lines) + "\n"


def look(events: str, reading: Reading, time: str | None) -> dict[str, Guess]:
    """What the first rows tell of each stream. Raises BadInput if there are no rows, or if they have no times."""
    place = place_of(events)
    wrong: list[str] = []
    found: dict[str, Guess] = {}
    for at, stream, _, values, texts in islice(rows_of(reading, events, wrong), ROWS_MAX):
        found.setdefault(stream, Guess()).add(values, texts, at)
    if not found:
        raise BadInput(f"{place}: expected events, found {wrong[0] if wrong else 'none'}")
    plain = found.get(_UNNAMED)
    if plain is not None:
        plain.time, plain.unit = time_column(time, plain.samples, place)
    return found


def stream_name(file: str) -> str:
    """The name of a file as that of a stream: letters and digits, each word with a capital."""
    stem = "Events" if file == STANDARD_INPUT else Path(file).name.partition(".")[0]
    words = "".join(each if each.isascii() and each.isalnum() else " " for each in stem).split()
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"Events{name}"


def time_column(asked: str | None, samples: Mapping[str, Sequence[Any]], place: str) -> tuple[str, TimeUnit | None]:
    """The column of the times and their unit. Raises BadInput if no column fits."""
    if asked is not None and asked not in samples:
        raise BadInput(f"{place}: expected a column {asked!r}, found none{suggestion(asked, samples)}")
    usual = [each for word in _USUAL for each in samples if each.lower() == word]
    for each in [*usual, *samples] if asked is None else [asked]:
        try:
            return each, unit_of(samples[each], any_number=each in (*usual, asked))
        except EventError:
            continue
    if asked is not None:
        raise BadInput(f"{place}: expected times in column {asked!r}, found {samples[asked][0]!r}")
    raise BadInput(f"{place}: expected a column of times, found none; --time COLUMN names it")


def unit_of(values: Sequence[Any], any_number: bool) -> TimeUnit | None:
    """The unit in which all values are times. Raises EventError if they are none.

    `any_number`: of a column that the user or its name calls times, so that a clock may start at zero.
    """
    numbers = [int(value) for value in values if type(value) is int or (type(value) is str and value.isdecimal())]
    if len(numbers) < len(values):
        for value in values:
            instant_of(value)
        return None
    unit = likely_unit(numbers[0])
    if unit is None and not any_number and not 10**15 <= numbers[0] < 4 * 10**15:
        raise EventError("expected a time")
    for number in numbers:
        instant_of(number, unit)
    return unit


def described(stream: str, guess: Guess, subscription: str) -> Iterator[str]:
    """The lines of a stream, and of a query of it that a newcomer can change."""
    attributes: dict[str, str] = {}
    for name, column in guess.columns.items():
        if name == guess.time:
            continue
        try:
            checked_name(name, "attribute")
        except DefinitionError:
            yield f"# Left out: {escaped(name)!r}; a name has letters, digits and _"
            continue
        if "other values" in column.kinds:
            yield f"# Left out: {name}; its values are no texts, numbers or booleans"
        else:
            attributes[name] = type_of(column)
    keys = [name for name in attributes if attributes[name] == "string" and divides(guess.columns[name], guess.rows)]
    keys += [name for name in attributes if attributes[name] == "int" and divides(guess.columns[name], guess.rows)]
    yield ""
    yield f"[streams.{stream}]"
    yield "attributes = { " + ", ".join(f'{name} = "{kind}"' for name, kind in attributes.items()) + " }"
    if guess.unit is not None:
        yield f'time_unit = "{guess.unit}"'
    if keys:
        others = f"  # also possible: {', '.join(keys[1:4])}" if len(keys) > 1 else ""
        yield f'key = "{keys[0]}"{others}'
    yield from first_query(stream, attributes, keys[0] if keys else None, subscription)


def first_query(stream: str, attributes: Mapping[str, str], key: str | None, subscription: str) -> Iterator[str]:
    """The lines of a query of a stream that a newcomer can change."""
    yield ""
    yield f"[subscriptions.{subscription}]"
    yield f'language = "{DEFAULT_LANGUAGE}"'
    numbers = [name for kind in ("float", "int") for name in attributes if attributes[name].startswith(kind)]
    rising = [name for name in numbers if name != key]
    if not rising:
        yield f'query = "SELECT * FROM {stream}"'
        return
    joined = "TRUE" if key is None else f"$2.{key} = $1.{key}"
    yield f"# {rising[0]} rises from one event to the next" + ("." if key is None else f" of the same {key}.")
    yield f'query = "SELECT * FROM FILTER{{{rising[0]} > {rising[0]}_1}}({stream} NEXT{{{joined}}} {stream})"'


def type_of(column: ColumnFindings) -> str:
    """The type of an attribute that takes all values of a column."""
    kinds = set(column.kinds) - {"null"}
    if len(kinds) == 1 and not kinds.isdisjoint({"int", "bool"}):
        found = kinds.pop()
    else:
        found = "float" if kinds and kinds <= {"int", "float"} else "string"
    return f"{found}?" if "null" in column.kinds else found
