"""Writes and reads a trained model as JSON: transition counts and gaps.

    {"format": "foretell-model", "version": 1, "digest": "93a1…",
     "clocks": [
      {"subscription": "late@5f0c…", "width": 0, "newest": 0}
     ],
     "counts": [
      {"subscription": "late@5f0c…", "context": ["N14228", 7], "generation": 0, "rows": [[0, 0, 12], [0, 1, 3]]}
     ],
     "gaps": [
      {"subscription": "late@5f0c…", "context": ["N14228"], "buckets": [[161, 2, 7200000000]]}
     ]}

`width`: microseconds in a generation of counts, 0 where nothing is forgotten; `newest`: the newest of them, null before
the first. `rows`: state, next state, count; `buckets`: bucket, how many gaps, their sum in microseconds.
`digest`: BLAKE2b of what the file says, by which one that was damaged is recognised, whatever its blanks.
`subscription` is its name and the digest of what its states mean; behind it "/1" for the first part of a subscription.
Records are sorted: equal models are equal files.

A damaged file is refused in one line with its place: DefinitionError.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, final

from ..events.errors import DefinitionError, shown
from .counts import BEGINNING, Context, Counts, GenerationClock, context_order
from .horizon import Gaps, bucket_of

FORMAT: Final = "foretell-model"
VERSION: Final = 1
FILE_BYTES_MAX: Final = 2**30
STATES_MAX: Final = 2**20
INTEGER_MAX: Final = 2**63 - 1
SUM_MAX: Final = 2**126  # sums of many durations need more than 64 bits
FIELDS: Final = frozenset(("format", "version", "digest", "clocks", "counts", "gaps"))


@final
class Model:
    """What training leaves behind: counts, and the gaps between events by version and context."""

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = Counts() if counts is None else counts
        self.gaps: dict[tuple[str, Context], Gaps] = {}

    def gaps_of(self, version: str, context: Context = ()) -> Gaps:
        """The histogram of a key's gaps; made when it is first asked for."""
        return self.gaps.setdefault((version, context), Gaps())

    def merge(self, other: Model) -> None:
        """Add all that another model holds. Associative and commutative. Raises as `Counts.merge`."""
        self.counts.merge(other.counts)
        for (version, context), gaps in list(other.gaps.items()):
            self.gaps_of(version, context).merge(gaps)

    def __eq__(self, other: object) -> bool:
        """Whether the same was counted."""
        return _text(self) == _text(other) if isinstance(other, Model) else NotImplemented

    def __hash__(self) -> int:
        raise TypeError("models grow and have no hash")


def write_model(model: Model) -> str:
    """The file's text; a record a line. O(size)."""
    return _text(model)


def save_model(model: Model, path: Path) -> None:
    """Write the file whole or not at all. Raises OSError."""
    part = path.with_name(path.name + ".part")
    part.write_text(_text(model), encoding="utf-8")
    os.replace(part, path)


def load_model(path: Path) -> Model:
    """Raises OSError, and DefinitionError for a file that is no model, with its path and place."""
    if path.stat().st_size > FILE_BYTES_MAX:
        raise DefinitionError(f"{path}: expected a model of at most {FILE_BYTES_MAX} bytes")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path}: expected UTF-8, found byte 0x{error.object[error.start]:02x}") from None
    return read_model(text, str(path))


def _text(model: Model) -> str:
    body = _body(model)
    return f'{{"format": "{FORMAT}", "version": {VERSION}, "digest": "{_digest(body)}", {body}'


def _body(model: Model) -> str:
    lists = (("clocks", _clocks(model)), ("counts", _tables(model)), ("gaps", _gaps(model)))
    blocks = [f'"{name}": [{",".join(lines)}\n ]' for name, lines in lists]
    return "\n " + ",\n ".join(blocks) + "}\n"


def _digest(body: str) -> str:
    return blake2b(body.encode("ascii"), digest_size=16).hexdigest()


def _clocks(model: Model) -> Iterator[str]:
    for version in model.counts.versions():
        clock = model.counts.clock_of(version)
        newest = None if clock.generation == BEGINNING else clock.generation
        yield "\n  " + json.dumps({"subscription": version, "width": clock.width, "newest": newest})


def _tables(model: Model) -> Iterator[str]:
    group: tuple[str, Context, int] | None = None
    rows: list[list[int]] = []
    for version, context, generation, state, following, count in model.counts.records():
        if group != (version, context, generation):
            if group is not None:
                yield _line(group[0], group[1], generation=group[2], rows=rows)
            group, rows = (version, context, generation), []
        rows.append([state, following, count])
    if group is not None:
        yield _line(group[0], group[1], generation=group[2], rows=rows)


def _gaps(model: Model) -> Iterator[str]:
    for version, context in sorted(model.gaps, key=lambda key: (key[0], context_order(key[1]))):
        buckets = [list(record) for record in model.gaps[version, context].records()]
        if buckets:
            yield _line(version, context, buckets=buckets)


def _line(version: str, context: Context, **rest: object) -> str:
    return "\n  " + json.dumps({"subscription": version, "context": list(context), **rest})


def read_model(text: str, place: str) -> Model:
    """A model from its text; `place` begins every complaint. Raises DefinitionError."""
    data = _parsed(text, place)
    if data.get("format") != FORMAT:
        raise _wrong(place, f'"format": "{FORMAT}"', data.get("format"))
    if data.get("version") != VERSION:
        raise _wrong(place, f'"version": {VERSION}', data.get("version"))
    if frozenset(data) != FIELDS:
        odd = ", ".join(sorted(frozenset(data) ^ FIELDS))[:80]
        raise DefinitionError(f"{place}: expected the fields {', '.join(sorted(FIELDS))}, missing or unknown: {odd}")
    model = Model()
    _read_clocks(model, data["clocks"], place)
    _read_counts(model, data["counts"], place)
    _read_gaps(model, data["gaps"], place)
    digest = _digest(_body(model))
    if digest != data["digest"]:
        raise _wrong(place, f'"digest": "{digest}" for what it holds', data["digest"])
    return model


def _parsed(text: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise DefinitionError(f"{place}: line {error.lineno} column {error.colno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise DefinitionError(f"{place}: not a model: its numbers are too long or its nesting too deep") from None
    if not isinstance(data, dict):
        raise _wrong(place, "an object", data)
    return data


def _read_clocks(model: Model, records: object, place: str) -> None:
    for where, record in _list(records, f"{place}: clocks"):
        if not isinstance(record, dict) or set(record) != {"subscription", "width", "newest"}:
            raise _wrong(where, "an object with subscription, width, newest", record)
        version, newest = record["subscription"], record["newest"]
        if not isinstance(version, str) or version in model.counts.clocks:
            raise _wrong(f"{where}.subscription", "a text that no other clock has", version)
        clock = model.counts.clocks[version] = GenerationClock()
        clock.width = _integer(record["width"], f"{where}.width", 0)
        clock.generation = BEGINNING if newest is None else _integer(newest, f"{where}.newest", -INTEGER_MAX)


def _read_counts(model: Model, records: object, place: str) -> None:
    seen: set[tuple[str, Context, int, int, int]] = set()
    for where, record in _list(records, f"{place}: counts"):
        version, context = _names(record, {"generation", "rows"}, where)
        generation = _integer(record["generation"], f"{where}.generation", -INTEGER_MAX)
        newest = model.counts.clock_of(version).generation
        if version not in model.counts.clocks or generation > newest:
            raise _wrong(f"{where}.generation", f"at most {newest}, the newest of the clock of {version!r}", generation)
        table = model.counts.table(version, context)
        for spot, row in _list(record["rows"], f"{where}.rows"):
            state, following, count = _triple(row, spot, "[state, next state, count]")
            if not (0 <= state < STATES_MAX and 0 <= following < STATES_MAX and count > 0):
                raise DefinitionError(f"{spot}: expected states from 0 to {STATES_MAX - 1} and a count, found {row}")
            if (version, context, generation, state, following) in seen:
                raise DefinitionError(f"{spot}: expected each transition once, found {state} to {following} again")
            seen.add((version, context, generation, state, following))
            table.put(generation, state, following, count)


def _read_gaps(model: Model, records: object, place: str) -> None:
    for where, record in _list(records, f"{place}: gaps"):
        version, context = _names(record, {"buckets"}, where)
        if (version, context) in model.gaps:
            raise DefinitionError(f"{where}: expected each context once")
        for spot, row in _list(record["buckets"], f"{where}.buckets"):
            bucket, count, total = _triple(row, spot, "[bucket, count, sum]")
            if count <= 0 or total < 0 or bucket_of(total // count) != bucket:
                raise DefinitionError(f"{spot}: expected a sum whose mean is in bucket {bucket}, found {row}")
            model.gaps_of(version, context).put(bucket, count, total)


def _list(found: object, place: str) -> list[tuple[str, Any]]:
    if not isinstance(found, list):
        raise _wrong(place, "a list", found)
    return [(f"{place}[{number}]", each) for number, each in enumerate(found)]


def _names(record: object, fields: set[str], place: str) -> tuple[str, Context]:
    if not isinstance(record, dict):
        raise _wrong(place, "an object", record)
    if set(record) != fields | {"subscription", "context"}:
        raise DefinitionError(f"{place}: expected the fields subscription, context, {', '.join(sorted(fields))}")
    version, context = record["subscription"], record["context"]
    if not isinstance(version, str):
        raise _wrong(f"{place}.subscription", "a text", version)
    if not isinstance(context, list) or not all(isinstance(part, str) or type(part) is int for part in context):
        raise _wrong(f"{place}.context", "a list of texts and ints", context)
    return version, tuple(context)


def _triple(row: object, place: str, expected: str) -> tuple[int, int, int]:
    match row:
        case [int(first), int(second), int(third)] if all(type(n) is int and abs(n) <= SUM_MAX for n in row):
            return first, second, third
        case _:
            raise _wrong(place, expected, row)


def _integer(found: object, place: str, least: int) -> int:
    if type(found) is not int or not least <= found <= INTEGER_MAX:
        raise _wrong(place, f"an int from {least} to {INTEGER_MAX}", found)
    return found


def _wrong(place: str, expected: str, found: object) -> DefinitionError:
    return DefinitionError(f"{place}: expected {expected}, found {shown(found)}")
