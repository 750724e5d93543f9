"""The types of fields on the wire: each checks a decoded value, and converts nothing.

Not here: checks of a batch's times and rows. broker.events does them, with the schema and the earlier events, and a
second pass over every event would only cost time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Final, final

from .limits import CREDITS_MAX, NAME_LENGTH_MAX, NESTING_MAX, TOKEN_BYTES_MAX

_LEAST: Final = -(2**63)
_GREATEST: Final = 2**63 - 1


@final
@dataclass(frozen=True, slots=True)
class FieldShape:
    """A type: its name in docs/protocol.md, its description for errors, and the check of a value."""

    word: str
    expected: str
    fits: Callable[[object], bool]


def optional(shape: FieldShape) -> FieldShape:
    """The shape, or nil."""
    fits = shape.fits
    return FieldShape(f"{shape.word}?", f"{shape.expected} or nil", lambda value: value is None or fits(value))


def packed(shape: FieldShape) -> FieldShape:
    """The shape, or a map of packed values, whose content the decoder checks (broker.events.event_columns)."""
    return _unpacked_later(shape, dict, "packed", "a map of packed values")


def in_bytes(shape: FieldShape) -> FieldShape:
    """The shape, or a byte string with such a value, which the decoder unpacks."""
    return _unpacked_later(shape, bytes, "blob", "a byte string with one")


def _unpacked_later(shape: FieldShape, kind: type, word: str, expected: str) -> FieldShape:
    fits = shape.fits
    return FieldShape(
        f"{shape.word} or {word}",
        f"{shape.expected} or {expected}",
        lambda value: type(value) is kind or fits(value),
    )


def records(*shapes: FieldShape) -> FieldShape:
    """An array of arrays, each with one value of each shape."""
    arity = len(shapes)

    def fits(value: object) -> bool:
        return type(value) is tuple and all(
            type(record) is tuple
            and len(record) == arity
            and all(shape.fits(field) for shape, field in zip(shapes, record))
            for record in value
        )

    return FieldShape(f"records of {arity}", f"an array of arrays of {arity}", fits)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _GREATEST


def _is_integer(value: object) -> bool:
    return type(value) is int and _LEAST <= value <= _GREATEST


def _are_integers(value: object) -> bool:
    # `set`, `min` and `max` run in C: this checks every id of a batch.
    if type(value) is not tuple or not set(map(type, value)) <= {int}:
        return False
    return not value or (min(value) >= _LEAST and max(value) <= _GREATEST)


def _are(kind: type) -> Callable[[object], bool]:
    return lambda value: type(value) is tuple and set(map(type, value)) <= {kind}


def _are_names(value: object) -> bool:
    return type(value) is dict and all(type(name) is str and type(kind) is str for name, kind in value.items())


def _is_plain(value: object) -> bool:
    """A map of nil, booleans, integers, finite floats, strings, arrays and maps, nested at most NESTING_MAX deep."""
    if type(value) is not dict:
        return False
    level: list[object] = [value]
    for _ in range(NESTING_MAX):
        below: list[object] = []
        for item in level:
            if type(item) is dict:
                if not all(type(key) is str for key in item):
                    return False
                below.extend(item.values())
            elif type(item) is tuple:
                below.extend(item)
            elif type(item) is float:
                if not isfinite(item):
                    return False
            elif item is not None and type(item) not in (bool, int, str):
                return False
        if not below:
            return True
        level = below
    return False


COUNT: Final = FieldShape("count", "an integer from 0 to 2**63 - 1", _is_count)
INTEGER: Final = FieldShape("integer", "an integer of 64 bits", _is_integer)
CREDITS: Final = FieldShape(
    "credits", f"an integer from 1 to {CREDITS_MAX:,}", lambda value: type(value) is int and 1 <= value <= CREDITS_MAX
)
TOKEN: Final = FieldShape(
    "token",
    f"a byte string of at most {TOKEN_BYTES_MAX}",
    lambda value: type(value) is bytes and len(value) <= TOKEN_BYTES_MAX,
)
FLAG: Final = FieldShape("flag", "a boolean", lambda value: type(value) is bool)
NAME: Final = FieldShape(
    "name",
    f"a string of at most {NAME_LENGTH_MAX} characters",
    lambda value: type(value) is str and len(value) <= NAME_LENGTH_MAX,
)
HORIZON: Final = FieldShape(
    "horizon",
    f"an integer from 0 to 2**63 - 1 or a string of at most {NAME_LENGTH_MAX} characters",
    lambda value: _is_count(value) or (type(value) is str and len(value) <= NAME_LENGTH_MAX),
)
TEXT: Final = FieldShape("text", "a string", lambda value: type(value) is str)
INTEGERS: Final = FieldShape("integers", "an array of integers of 64 bits", _are_integers)
ARRAY: Final = FieldShape("array", "an array", lambda value: type(value) is tuple)
TEXTS: Final = FieldShape("texts", "an array of strings", _are(str))
BLOB: Final = FieldShape("blob", "a byte string", lambda value: type(value) is bytes)
BLOBS: Final = FieldShape("blobs", "an array of byte strings", _are(bytes))
NAMES: Final = FieldShape("names", "a map of strings to strings", _are_names)
PLAIN: Final = FieldShape("plain", f"a map of finite plain values, nested at most {NESTING_MAX} deep", _is_plain)
