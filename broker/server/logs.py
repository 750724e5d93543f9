"""Writes the operator's log: one line an event, on standard error, as text or as JSON.

Payloads of events, queries and secret keys are never logged. Clients cannot flood the log: refusals of one kind are
counted, and logged once a second with the last of them.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO, final

LOG: Final = logging.getLogger("foretell")

_FIELDS: Final = "fields"
_VALUE_CHARACTERS_MAX: Final = 500


def say(level: int, event: str, **fields: object) -> None:
    """Log one event; `event` is a constant text, so that lines can be searched for, and `fields` has the details."""
    if LOG.isEnabledFor(level):
        LOG.log(level, event, extra={_FIELDS: fields})


def open_log(level: str, form: str, stream: TextIO | None = None) -> None:
    """Log to standard error in this form, from this level on. May be called again."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Formatter(form == "json"))
    LOG.handlers[:] = [handler]
    LOG.setLevel(level.upper())
    LOG.propagate = False


def log_failures(failures: list[Any]) -> None:
    """Log subscriptions that were suspended by mistakes of the broker, with the reference that subscribers get."""
    for subscription, reference, error in failures:
        fields = {"subscription": subscription, "reference": reference}
        trace = (type(error), error, error.__traceback__)
        LOG.error("subscription suspended by a mistake in the broker", exc_info=trace, extra={_FIELDS: fields})
    failures.clear()


def log_held_back(began: list[dict[str, Any]], ended: list[dict[str, Any]]) -> None:
    """Log streams for which related ones have waited for long: once when that is so, and once when it has ended."""
    for fields in began:
        say(logging.WARNING, "related streams wait", **fields)
    for fields in ended:
        say(logging.INFO, "related streams wait no more", **fields)


@final
class Formatter(logging.Formatter):
    """Formats each record as one line: control characters are escaped, tracebacks become one field."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields: dict[str, Any] = dict(getattr(record, _FIELDS, {}))
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        event = record.getMessage()
        if self._as_json:
            line = {"time": time, "level": record.levelname.lower(), "event": event, **fields}
            return json.dumps(line, ensure_ascii=True, default=str)
        words = "".join(f" {name}={_shown(value)}" for name, value in fields.items())
        return f"{time} {record.levelname.lower()} {_shown(event, quoted=False)}{words}"


@final
class Complaints:
    """Counts refusals by kind, and logs each kind once a second, with its count and the last refusal."""

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[int, dict[str, object]]] = {}

    def add(self, event: str, **fields: object) -> None:
        """Count a refusal."""
        count, _ = self._kinds.get(event, (0, fields))
        self._kinds[event] = count + 1, fields

    def report(self) -> None:
        """Log the refusals since the last call."""
        for event, (count, fields) in self._kinds.items():
            say(logging.WARNING, event, count=count, **fields)
        self._kinds.clear()


def _shown(value: object, *, quoted: bool = True) -> str:
    if not isinstance(value, str):
        return str(value)
    text = value if len(value) <= _VALUE_CHARACTERS_MAX or "\n" in value else value[:_VALUE_CHARACTERS_MAX] + "…"
    if text.isprintable() and not (quoted and (not text or set(text) & set(' "='))):
        return text
    return json.dumps(text, ensure_ascii=True)
