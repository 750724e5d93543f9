"""Reads Arrow's memory through its C data interface, so that whoever speaks Arrow can publish, and nobody must.

An object with `__arrow_c_array__` (PyCapsules: pyarrow, nanoarrow, polars by `to_arrow`) hands out two structures, of a
schema and of an array. What is needed is copied while their owner holds them: numbers as buffers, coded texts as
numbers and texts, all else as lists.

Here: that. Not here: what a column must be (column_checks), structs (arrow_paths).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

from .coded_texts import CodedTexts
from .errors import EventError, shown
from .schema import Attribute
from .stream import StreamDefinition

OFTEN: Final = 16  # rows for each different text, from which on texts are numbers: a batch reads its whole dictionary
_NUMBERS: Final = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}
_TEXTS: Final = {"u": "i", "U": "q"}  # by format: that of the offsets
_LISTS: Final = {"+l": "i", "+L": "q"}
_TICKS: Final[dict[str, Callable[[int], int]]] = {
    "tss:": lambda tick: tick * 1_000_000,
    "tsm:": lambda tick: tick * 1_000,
    "tsu:": lambda tick: tick,
    "tsn:": lambda tick: tick // 1_000,
}
_STRUCT: Final = "+s"


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype = ctypes.c_void_p
_pointer_in.argtypes = [ctypes.py_object, ctypes.c_char_p]


@final
class _Exported(NamedTuple):
    """An array and its schema, and the capsules that own them."""

    schema: Any
    array: Any
    owners: tuple[Any, Any]

    def format(self) -> str:
        return str(self.schema.format.decode())


def has_arrow(given: Any) -> bool:
    """Whether this is an array of Arrow, or several beside each other."""
    return hasattr(given, "__arrow_c_array__")


def has_arrow_columns(given: Any) -> bool:
    """Whether these are columns of Arrow under their names."""
    return has_arrow(given) and _exported(given).format() == _STRUCT


def read_columns(stream: StreamDefinition, given: Any) -> dict[str, Any]:
    """The columns of a record batch by name. O(values). Raises EventError for a type that no attribute has."""
    whole = _exported(given)
    if whole.array.null_count > 0:
        raise EventError(f"stream {stream.name!r}: expected columns of Arrow, found structures that may be null")
    found: dict[str, Any] = {}
    for at in range(whole.schema.n_children):
        schema, array = whole.schema.children[at].contents, whole.array.children[at].contents
        name = schema.name.decode()
        column = _values(_Exported(schema, array, whole.owners), whole.array.offset, whole.array.length)
        if column is None:
            raise _unknown(stream, name, schema.format.decode())
        found[name] = column
    return found


def read_column(stream: StreamDefinition, name: str, given: Any) -> Any:
    """The column of an array. O(values). Raises EventError for a type that no attribute has."""
    one = _exported(given)
    column = _values(one, 0, one.array.length)
    if column is None:
        raise _unknown(stream, name, one.format())
    return column


def read_usual(stream: StreamDefinition, attribute: Attribute, given: Any) -> Any:
    """The same for an attribute, in the form that is matched fastest: repeated texts as numbers, floats of 64 bits.

    `given`: an array of pyarrow.
    """
    if attribute.type == "float" and str(given.type) != "double":
        given = given.cast("float64", safe=False)  # ints are rounded, as elsewhere
    if attribute.type == "string":
        coded = given if hasattr(given, "dictionary") else given.dictionary_encode()
        given = coded if len(coded.dictionary) * OFTEN <= len(given) else coded.dictionary_decode()
    return read_column(stream, attribute.name, given)


def is_timestamps(given: Any) -> bool:
    """Whether an array of Arrow says itself which moments its numbers are."""
    return _exported(given).format()[:4] in _TICKS


def read_times(given: Any) -> list[int]:
    """An array of timestamps, or of microseconds. O(values). Raises EventError for another type, and for nulls."""
    one = _exported(given)
    unit = one.format()[:4]
    values = _numbers(one, "q", 0, one.array.length) if unit in _TICKS else _values(one, 0, one.array.length)
    if not isinstance(values, (memoryview, list)):
        raise EventError(f"expected timestamps of Arrow, found a column of its type {shown(one.format())}")
    if isinstance(values, list) and None in values:  # numbers without nulls are a buffer
        raise EventError(f"row {values.index(None)}: expected a time, found null")
    moments: list[int] = list(values) if isinstance(values, list) else values.tolist()
    tick = _TICKS.get(unit)
    return moments if tick is None else [tick(each) for each in moments]


def _exported(given: Any) -> _Exported:
    schema, array = given.__arrow_c_array__()
    return _Exported(
        _Schema.from_address(_pointer_in(schema, b"arrow_schema")),
        _Array.from_address(_pointer_in(array, b"arrow_array")),
        (schema, array),
    )


def _unknown(stream: StreamDefinition, name: str, found: str) -> EventError:
    expected = "expected a column of numbers, texts or bools, found one of Arrow's type"
    return EventError(f"stream {stream.name!r}, attribute {name!r}: {expected} {found!r}")


def _values(one: _Exported, offset: int, length: int) -> Any:
    """A buffer, coded texts or a list; None for another type. `offset`: where the column begins in the array."""
    kind = one.format()
    if one.schema.dictionary:
        texts = _Exported(one.schema.dictionary.contents, one.array.dictionary.contents, one.owners)
        words = _values(texts, 0, texts.array.length)
        if kind not in _NUMBERS or not isinstance(words, list):
            return None
        codes = _numbers(one, _NUMBERS[kind], offset, length)
        if None in words:  # a dictionary may say what null is, too
            return [None if code is None else words[code] for code in codes]
        return CodedTexts([-1 if code is None else code for code in codes] if isinstance(codes, list) else codes, words)
    if kind in _NUMBERS:
        return _numbers(one, _NUMBERS[kind], offset, length)
    first = one.array.offset + offset
    if kind == "b":
        bits = _memory(one, 1, (first + length + 7) // 8)
        return _with_nulls(one, first, [bool(bits[at >> 3] >> (at & 7) & 1) for at in range(first, first + length)])
    if kind in _TEXTS:
        return _with_nulls(one, first, _texts(one, _TEXTS[kind], first, length))
    if kind in _LISTS:
        return _lists(one, _LISTS[kind], first, length)
    return [None] * length if kind == "n" else None


def _numbers(one: _Exported, kind: str, offset: int, length: int) -> Any:
    """Numbers as a buffer; as a list where some are null."""
    first, width = one.array.offset + offset, ctypes.sizeof(_WIDTHS[kind])
    view = _cast(_memory(one, 1, width * (first + length)), kind)[first:]
    if not _has_nulls(one):
        return view
    return _with_nulls(one, first, view.tolist())


_WIDTHS: Final[dict[str, Any]] = {
    **dict.fromkeys("bB", ctypes.c_int8),
    **dict.fromkeys("hH", ctypes.c_int16),
    **dict.fromkeys("iIf", ctypes.c_int32),
    **dict.fromkeys("qQd", ctypes.c_int64),
}


def _texts(one: _Exported, kind: str, first: int, length: int) -> list[Any]:
    offsets = _offsets(one, kind, first, length)
    data = _memory(one, 2, offsets[-1] if length else 0)
    if data.isascii():
        whole = data.decode("ascii")
        return [whole[begin:end] for begin, end in pairwise(offsets)]
    # What is no UTF-8 becomes a text that no check accepts, as it does where bytes are a file's name.
    return [data[begin:end].decode(errors="surrogateescape") for begin, end in pairwise(offsets)]


def _lists(one: _Exported, kind: str, first: int, length: int) -> list[Any] | None:
    """Lists of texts as tuples; None for lists of anything else."""
    inner = _Exported(one.schema.children[0].contents, one.array.children[0].contents, one.owners)
    texts = _values(inner, 0, inner.array.length)
    if isinstance(texts, CodedTexts):
        texts = [None if code < 0 else texts.texts[code] for code in texts.codes]
    if not isinstance(texts, list):
        return None
    ends = _offsets(one, kind, first, length)
    return _with_nulls(one, first, [tuple(texts[begin:end]) for begin, end in pairwise(ends)])


def _offsets(one: _Exported, kind: str, first: int, length: int) -> list[int]:
    width = ctypes.sizeof(_WIDTHS[kind])
    return _cast(_memory(one, 1, width * (first + length + 1)), kind).tolist()[first:] if length else []


def _cast(data: bytes, kind: Any) -> memoryview:
    return memoryview(data).cast(kind)


def _memory(one: _Exported, buffer: int, size: int) -> bytes:
    address = one.array.buffers[buffer]
    return ctypes.string_at(address, size) if address and size else bytes(size)


def _has_nulls(one: _Exported) -> bool:
    return bool(one.array.null_count != 0 and one.array.n_buffers > 0 and one.array.buffers[0])


def _with_nulls(one: _Exported, first: int, values: list[Any]) -> list[Any]:
    """The values, None where the array's bits say so."""
    if _has_nulls(one):
        valid = _memory(one, 0, (first + len(values) + 7) // 8)
        for at in range(len(values)):
            if not valid[(first + at) >> 3] >> ((first + at) & 7) & 1:
                values[at] = None
    return values
