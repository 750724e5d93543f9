"""Streams whose events carry their times: what a query that reads times gets in place of the declared stream.

Every language reads the time of an event as if it were an attribute, unless the stream declares one of that name. No
stored event has such an attribute: a query that reads times reads the *timed stream*, whose rows have two values more,
and only while there is such a query are these rows made (engine.dispatch).

Here: names, schemas and rows of timed streams. Not here: which queries read times (each language's lowering).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..events.event import TIME
from ..events.schema import Attribute, Row, Schema
from .partitioned_stream import PartitionedStream

_SUFFIX: Final = " with time"  # no user can write a name with spaces


def timed(stream: str) -> str:
    """The name of a stream's timed stream."""
    return stream + _SUFFIX


def untimed(stream: str) -> str:
    """The name of the stream whose events a stream has: its own, or that of which it is the timed stream."""
    return stream.removesuffix(_SUFFIX)


def is_timed(stream: str) -> bool:
    """Whether a name is that of a timed stream."""
    return stream.endswith(_SUFFIX)


def timed_row(row: Row, time: int, start: int) -> Row:
    """The row of an event in the timed stream: `time` follows the declared attributes, then `start`."""
    return (*row, time, start)


def timed_schema(schema: Schema) -> Schema:
    """The schema of a timed stream, as far as it has names: a declared `time` or `start` keeps its name."""
    if schema.position(TIME) >= 0:
        return schema
    return Schema((*schema.attributes, Attribute(TIME, "int")))


def source_in_use(source: PartitionedStream) -> PartitionedStream:
    """The stream that an automaton reads for a source: the timed one, if the query reads its times."""
    if not source.timed:
        return source
    return replace(source, stream=timed(source.stream), schema=timed_schema(source.schema))


def source_out_of_use(source: PartitionedStream) -> PartitionedStream:
    """The declared stream again, of a timed one whose times are not read any more."""
    attributes = source.schema.attributes[:-1]
    return replace(source, stream=untimed(source.stream), schema=Schema(attributes), timed=False)
