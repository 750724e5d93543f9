"""Events, streams, schemas, instants and durations, and the checks whether an event fits its stream.

This is the lowest package: it imports no other package of Foretell, does no input or output, reads no clock, and does
not know queries (`broker.language`) or their evaluation. Everything from outside is checked here once; higher packages
assume that rows are valid.
"""

from __future__ import annotations

from .columns import row_from_text
from .errors import (
    ERRORS,
    DefinitionError,
    DuplicateEvent,
    EarlyEvent,
    EventError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownEvent,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
    shown,
)
from .event import Event, Input, Punctuation, Retraction, SubscribeLine, UnsubscribeLine, UpdateLine
from .instant import LARGEST, UNITS, format_duration, format_instant, parse_duration, parse_instant
from .lines import LONGEST_LINE, parse_line
from .names import checked_name, checked_subscription_name
from .nearest import nearest, suggestion
from .schema import VALUE_TYPES, Attribute, Row, Schema, Value, ValueType
from .stream import DISORDERS, Disorder, StreamDefinition
from .validation import check_rows, check_starts, check_times, row_from_mapping

__all__ = [
    "DISORDERS",
    "ERRORS",
    "LARGEST",
    "LONGEST_LINE",
    "UNITS",
    "VALUE_TYPES",
    "Attribute",
    "DefinitionError",
    "Disorder",
    "DuplicateEvent",
    "EarlyEvent",
    "Event",
    "EventError",
    "ForetellError",
    "Input",
    "LateEvent",
    "LimitExceeded",
    "Punctuation",
    "QueryError",
    "Retraction",
    "Row",
    "Schema",
    "StreamDefinition",
    "SubscribeLine",
    "UnknownEvent",
    "UnknownStream",
    "UnknownSubscription",
    "UnsubscribeLine",
    "Unsupported",
    "UpdateLine",
    "Value",
    "ValueType",
    "check_rows",
    "check_starts",
    "check_times",
    "checked_name",
    "checked_subscription_name",
    "format_duration",
    "format_instant",
    "nearest",
    "parse_duration",
    "parse_instant",
    "parse_line",
    "row_from_mapping",
    "row_from_text",
    "shown",
    "suggestion",
]
