"""Writes definitions as the text of a subscription file: reading it gives the same definitions (subscription_file)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..events.instant import format_duration
from ..events.stream import StreamDefinition
from .subscription import SubscriptionDefinition

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL: Final = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f]*")


def stream_lines(definition: StreamDefinition) -> Iterator[str]:
    """The table of a stream."""
    yield f"[streams.{definition.name}]"
    yield f"attributes = {_value(definition.schema.declared())}"
    if definition.key is not None:
        yield f"key = {_value(definition.key)}"
    if definition.disorder != "arrival":
        yield f"disorder = {_value(definition.disorder)}"
    for name in ("lateness", "speculation", "idle"):
        duration = getattr(definition, name)
        if duration is not None:
            yield f"{name} = {_value(format_duration(duration))}"
    if definition.time_unit is not None:
        yield f"time_unit = {_value(definition.time_unit)}"
    if definition.sequence is not None:
        yield f"sequence = {_value(definition.sequence)}"


def subscription_lines(definition: SubscriptionDefinition) -> Iterator[str]:
    """The table of a subscription."""
    yield f"[subscriptions.{_key(definition.name)}]"
    yield f"language = {_value(definition.language)}"
    query = definition.query.strip()
    if "\n" in query and "'''" not in query and not query.endswith("'") and _LITERAL.fullmatch(query):
        yield f"query = '''\n{query}\n'''"
    else:
        yield f"query = {_value(definition.query)}"
    for name in ("lineage", "report", "forecast", "results"):
        value = getattr(definition, name)
        if value is not None:
            yield f"{name} = {_value(value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """A value of TOML, whose strings are those of JSON, but for one character."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
