"""Events, streams, schemas, instants and durations, and the checks whether an event fits its stream.

This is the lowest package: it imports no other package of Foretell, does no input or output, reads no clock, and does
not know queries (`broker.language`) or their evaluation. Everything from outside is checked here once; higher packages
assume that rows are valid.
"""

from __future__ import annotations

from .coded_texts import CodedTexts
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
    MisnumberedEvent,
    QueryError,
    UnknownEvent,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
    shown,
    unknown_event,
)
from .event import Event, GapLine, Input, Punctuation, Retraction, SubscribeLine, UnsubscribeLine, UpdateLine
from .instant import LARGEST, UNITS, format_duration, format_instant, parse_duration, parse_instant
from .lines import LONGEST_LINE, is_enveloped, parse_line, parse_object
from .names import checked_name, checked_subscription_name
from .nearest import nearest, suggestion
from .schema import VALUE_TYPES, Attribute, Row, Schema, Value, ValueType
from .stream import DISORDERS, Disorder, Duration, StreamDefinition, stream_durations
from .time_unit import TIME_UNITS, TimeUnit, as_datetime, check_unit, instant_of, instants_of, likely_unit
from .validation import check_rows, check_starts, check_times, row_from_mapping

__all__ = [
    "DISORDERS",
    "ERRORS",
    "LARGEST",
    "LONGEST_LINE",
    "TIME_UNITS",
    "UNITS",
    "VALUE_TYPES",
    "Attribute",
    "CodedTexts",
    "DefinitionError",
    "Disorder",
    "DuplicateEvent",
    "Duration",
    "GapLine",
    "MisnumberedEvent",
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
    "TimeUnit",
    "UnknownEvent",
    "UnknownStream",
    "UnknownSubscription",
    "UnsubscribeLine",
    "Unsupported",
    "UpdateLine",
    "Value",
    "ValueType",
    "as_datetime",
    "check_rows",
    "check_starts",
    "check_times",
    "check_unit",
    "checked_name",
    "checked_subscription_name",
    "format_duration",
    "format_instant",
    "instant_of",
    "instants_of",
    "is_enveloped",
    "likely_unit",
    "nearest",
    "parse_duration",
    "parse_instant",
    "parse_line",
    "parse_object",
    "row_from_mapping",
    "row_from_text",
    "shown",
    "stream_durations",
    "suggestion",
    "unknown_event",
]
