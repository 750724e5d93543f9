"""A file of events that is opened as a command opens it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from broker.command.reading import EventReader, Reading
from broker.events import StreamDefinition


def open_events(file: str, streams: Mapping[str, StreamDefinition]) -> AbstractContextManager[EventReader]:
    return Reading(streams).open(file)
