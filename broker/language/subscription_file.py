"""Reads a subscription file (TOML) into definitions, in the order of the file. Queries are not parsed here.

Every error is one line: the file, the table, what was expected and what was found. The caller opens the file; this
module gets its text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast, final

from ..events.errors import DefinitionError, EventError, LimitExceeded, shown
from ..events.file_form import FileForm, columns_of_pairs, paths_of
from ..events.instant import parse_duration
from ..events.nearest import suggestion
from ..events.schema import Schema
from ..events.stream import StreamDefinition
from .diagnostics import quoted
from .limits import FILE_BYTES_MAX, byte_length
from .subscription import SubscriptionDefinition
from .toml_hints import hint_for

_TABLES: Final = ("streams", "subscriptions")
_STREAM_KEYS: Final = (
    *("attributes", "key", "disorder", "lateness", "speculation", "idle", "time_unit", "sequence"),
    *("columns", "separator", "decimal", "time_format"),
)
_SUBSCRIPTION_KEYS: Final = ("language", "query", "lineage", "report", "forecast", "results", "hidden")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_AT_THE_END: Final = re.compile(r" \(at (line \d+, column \d+|end of document)\)$")

_Definition = TypeVar("_Definition", StreamDefinition, SubscriptionDefinition)


@final
@dataclass(frozen=True, slots=True)
class SubscriptionFile:
    """The declarations of a file, in order. Names are unique within streams and within subscriptions.

    `hidden`: the subscriptions whose results only go to the stream that they publish.
    """

    streams: tuple[StreamDefinition, ...]
    subscriptions: tuple[SubscriptionDefinition, ...]
    hidden: frozenset[str] = frozenset()


def read_subscription_file(text: str, place: str, wrong: list[DefinitionError] | None = None) -> SubscriptionFile:
    """Return the definitions in a subscription file's text; `place` names the file in errors.

    Raises DefinitionError for any mistake in it, and LimitExceeded for more than FILE_BYTES_MAX. With `wrong`, the
    errors of single definitions are added to that list, and the other definitions returned.
    """
    size = byte_length(text)
    if size > FILE_BYTES_MAX:
        raise LimitExceeded(f"{place}: expected at most {FILE_BYTES_MAX} bytes, found {size}")
    document = _document(text, place)
    _check_keys(document, _TABLES, place)
    return SubscriptionFile(
        tuple(_definitions(document, "streams", place, _stream, wrong)),
        tuple(_definitions(document, "subscriptions", place, _subscription, wrong)),
        frozenset(name for name, table in document.get("subscriptions", {}).items() if _is_hidden(table)),
    )


def _document(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DefinitionError(f"{place}: expected tables and lists nested less deep") from None
    except ValueError as error:  # an integer with too many digits raises ValueError, not TOMLDecodeError
        message = str(error)
        where = _AT_THE_END.search(message)
        if where is not None:
            message = message[: where.start()]
            message = f"{where.group(1)}: {message}{hint_for(text, message, where.group(1))}"
        raise DefinitionError(f"{place}: {message}") from None


def _definitions(
    document: Mapping[str, Any],
    kind: str,
    place: str,
    define: Callable[[str, Mapping[str, Any]], _Definition],
    wrong: list[DefinitionError] | None,
) -> Iterable[_Definition]:
    for name, table in _table(document.get(kind, {}), f"{place}: {kind}").items():
        inside = f"{place}: {kind}.{name if _BARE_KEY.fullmatch(name) else quoted(name)}"
        try:
            found = define(name, _table(table, inside))
        except (DefinitionError, EventError) as error:
            # The message of a definition already has its name, and so has the place.
            message = str(error).removeprefix(f"{kind.removesuffix('s')} {name!r}: ").removeprefix(f"{inside}: ")
            complaint = DefinitionError(f"{inside}: {message}")
            if wrong is None:
                raise complaint from None
            wrong.append(complaint)
            continue
        yield found


def _is_hidden(table: object) -> bool:
    return isinstance(table, dict) and table.get("hidden") is True


def _stream(name: str, table: Mapping[str, Any]) -> StreamDefinition:
    if "attributes" not in table:
        for key, value in table.items():
            if key not in _STREAM_KEYS and isinstance(value, str):
                wanted = f"write attributes = {{ {key} = {quoted(value)}, ... }}".replace("'", '"')
                raise DefinitionError(f"unknown key {quoted(key)}; {wanted}")
    _check_keys(table, _STREAM_KEYS)
    return StreamDefinition(
        name=name,
        schema=Schema.declare(_by_path(_required(table, "attributes"))),
        key=table.get("key"),
        disorder=table.get("disorder", "arrival"),
        lateness=_duration(table, "lateness"),
        speculation=_duration(table, "speculation"),
        idle=_duration(table, "idle"),
        time_unit=table.get("time_unit"),
        sequence=table.get("sequence"),
        files=_files(table),
    )


def _by_path(attributes: Any) -> Any:
    """Attributes whose paths may be written without quotes."""
    return paths_of(attributes) if isinstance(attributes, dict) else attributes


def _files(table: Mapping[str, Any]) -> FileForm:
    """How files write a stream's events. A path may be written without quotes."""
    columns = columns_of_pairs(paths_of(_table(table.get("columns", {}), "columns")).items())
    return FileForm(columns, table.get("separator"), table.get("decimal"), table.get("time_format"))


def _subscription(name: str, table: Mapping[str, Any]) -> SubscriptionDefinition:
    _check_keys(table, _SUBSCRIPTION_KEYS)
    if type(table.get("hidden", False)) is not bool:
        raise DefinitionError(f"hidden: expected true or false, found {shown(table['hidden'])}")
    return SubscriptionDefinition(
        name=name,
        language=_required(table, "language"),
        query=_required(table, "query"),
        lineage=table.get("lineage"),
        report=table.get("report"),
        forecast=table.get("forecast"),
        results=table.get("results"),
    )


def _duration(table: Mapping[str, Any], key: str) -> int | None:
    if key not in table:
        return None
    try:
        return parse_duration(table[key])
    except EventError as error:
        raise DefinitionError(f"{key}: {error}") from None


def _required(table: Mapping[str, Any], key: str) -> Any:
    if key not in table:
        raise DefinitionError(f"expected the key {key!r}, found none")
    return table[key]


def _table(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DefinitionError(f"{place}: expected a table, found {shown(value)}")
    return cast("dict[str, Any]", value)


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], place: str | None = None) -> None:
    for key in table:
        if key not in known:
            hint = suggestion(key, known) or f"; expected {', '.join(known)}"
            raise DefinitionError(f"{'' if place is None else f'{place}: '}unknown key {quoted(key)}{hint}")
