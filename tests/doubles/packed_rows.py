"""Rows as the packed columns that a message or a record has brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgpack

from broker.events import Schema, StreamDefinition
from broker.events.column_checks import event_columns
from broker.events.event_columns import EventColumns, columns_of


def packed(attributes: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> EventColumns:
    """The same events; there is at least one."""
    columns = dict(zip(attributes, map(list, zip(*rows, strict=True)), strict=True))
    made = event_columns(StreamDefinition("S", Schema.declare(attributes)), columns, len(rows))
    assert isinstance(made, EventColumns)
    return columns_of(msgpack.unpackb(msgpack.packb(made.plain())), len(rows))
