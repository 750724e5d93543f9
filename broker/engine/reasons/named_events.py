"""The values of the events that an answer names, for pages that show them beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...events.event import Event
from ...events.stream import StreamDefinition


def named_in(answer: object) -> set[int]:
    """The ids of all events that reasons as one JSON object name. O(its size)."""
    numbers: set[int] = set()
    parts = [answer]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            for key, value in part.items():
                if key in ("events", "ended by", "lineage") and isinstance(value, list):
                    numbers.update([each for each in value if isinstance(each, int)])
                parts.append(value)
        elif isinstance(part, list):
            parts += part
    return numbers


def event_line(streams: Mapping[str, StreamDefinition], event: Event) -> dict[str, Any]:
    """An event as an object."""
    names = streams[event.stream].schema.names
    values = event.data if isinstance(event.data, dict) else dict(zip(names, event.data))
    return {"id": event.id, "stream": event.stream, "time": event.time, "data": values}


def values_of(answer: object, streams: Mapping[str, StreamDefinition], inputs: Iterable[object]) -> dict[str, Any]:
    """The named events by id. O(inputs)."""
    numbers = named_in(answer)
    events = [each for each in inputs if isinstance(each, Event) and each.id in numbers]
    return {str(each.id): event_line(streams, each) for each in events}
