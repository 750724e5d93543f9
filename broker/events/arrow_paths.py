"""Structs in columns of Arrow, of which attributes have the paths of values, as of nested objects.

Who has such columns has pyarrow. Not here: reading columns (arrow), objects of JSON (file_form).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from .file_form import DEPTH_MAX

_LISTS: Final = ("list<", "large_list<")


def without_structs(batch: Any) -> Any:
    """A record batch of pyarrow whose structs are columns instead, named by the paths of their values, and whose lists
    of structs are columns of lists. A column is before a path of its name. O(columns), and O(values) of such lists."""
    found: list[tuple[str, Any]] = []
    for name, column in zip(batch.schema.names, batch.columns):
        for path, each in _by_paths(name, column, DEPTH_MAX):
            if path == name or path not in batch.schema.names:
                found.append((path, each))
    return type(batch).from_arrays([each for _, each in found], names=[name for name, _ in found])


def root_of(path: str, names: Sequence[str]) -> str:
    """The column that has what is at a path: itself, or the one with the structs."""
    parts = path.split(".")
    roots = [".".join(parts[:at]) for at in range(len(parts), 0, -1)]
    return next((root for root in roots if root in names), path)


def to_read(paths: Sequence[str], schema: Any) -> list[str]:
    """What to read of a Parquet file of this schema for these paths, each once: a list of structs as a whole, because
    Parquet names what is in it in its own way."""
    found: list[str] = []
    for path in paths:
        root = root_of(path, schema.names)
        whole = root in schema.names and str(schema.field(root).type).startswith(_LISTS)
        found.append(root if whole else path)
    return list(dict.fromkeys(found))


def _by_paths(name: str, column: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """The columns in a column, by their paths."""
    import pyarrow

    kind = column.type
    inner = kind.value_type if str(kind).startswith(_LISTS) else kind
    if not depth or not str(inner).startswith("struct<"):
        yield name, column
        return
    fields = [inner.field(at) for at in range(inner.num_fields)]
    arrays = column.flatten() if inner is kind else []
    if inner is not kind:
        rows = column.to_pylist()
        for field in fields:
            several = str(field.type).startswith(_LISTS)
            values = [None if row is None else _of_each(row, field.name) for row in rows]
            arrays.append(pyarrow.array(values, field.type if several else pyarrow.list_(field.type)))
    for field, each in zip(fields, arrays):
        yield from _by_paths(f"{name}.{field.name}", each, depth - 1)


def _of_each(structs: list[dict[str, Any] | None], name: str) -> list[Any] | None:
    """What is in a field of each, without nulls; null if there is nothing else."""
    found = [struct[name] for struct in structs if struct is not None and struct[name] is not None]
    return [each for value in found for each in (value if isinstance(value, list) else (value,))] if found else None
