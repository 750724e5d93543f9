"""Gives out columns as a table of Arrow, where the optional pyarrow is installed.

Buffers of numbers are handed over without a copy. Not here: reading Arrow, which needs no package (arrow); which
columns there are.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .coded_texts import CodedTexts
from .errors import Unsupported

if TYPE_CHECKING:
    import pyarrow

_NUMBERS = {"q": "int64", "d": "float64"}


def arrow_table(columns: Sequence[tuple[str, str, Any]]) -> pyarrow.Table:
    """The table of columns of one length, each with its name and its type. O(values). Raises Unsupported."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise Unsupported(
            "results in Arrow need pyarrow, which is not installed: pip install 'foretell[parquet]'"
        ) from None
    made = {name: _array(pyarrow, kind, values) for name, kind, values in columns}
    return pyarrow.table(made)


def _array(pyarrow: Any, kind: str, values: Any) -> Any:
    if isinstance(values, CodedTexts):
        codes = _numbers(pyarrow, array("i", values.codes), "int32")
        texts = pyarrow.array(values.texts, pyarrow.string())
        missing = pyarrow.compute.equal(codes, -1) if min(values.codes, default=0) < 0 else None
        if missing is not None:
            codes = pyarrow.compute.if_else(missing, None, codes)
        return pyarrow.DictionaryArray.from_arrays(codes, texts)
    if isinstance(values, array):
        return _numbers(pyarrow, values, _NUMBERS[values.typecode])
    match kind:
        case "int":
            return pyarrow.array(values, pyarrow.int64())
        case "float":
            return pyarrow.array(values, pyarrow.float64())
        case "bool":
            return pyarrow.array(values, pyarrow.bool_())
        case "string[]":
            return pyarrow.array(values, pyarrow.list_(pyarrow.string()))
        case "ids":
            return pyarrow.array(values, pyarrow.list_(pyarrow.int64()))
        case "mixed" if all(value is None or type(value) in (int, float) for value in values):
            return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
        case "mixed" | "object":
            values = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    return pyarrow.array(values, pyarrow.string())


def _numbers(pyarrow: Any, values: array[Any], kind: str) -> Any:
    """An array of the same memory."""
    return pyarrow.Array.from_buffers(pyarrow.type_for_alias(kind), len(values), [None, pyarrow.py_buffer(values)])
