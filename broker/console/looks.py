"""What an operator watches of a broker: which of its statistics as rates, which as levels, and the rates between two.

The terminal (`foretell top`) and the console show these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RATES: Final = (
    ("events/s", "broker", "events"),
    ("results/s", "broker", "results"),
    ("notifications/s", "broker", "notifications_sent"),
    ("missed/s", "broker", "notifications_missed"),
    ("late/s", "broker", "events_refused_late"),
    ("withdrawn/s", "broker", "events_withdrawn"),
    ("retractions/s", "broker", "retractions"),
    ("denied/s", "broker", "denied"),
)
NAMED: Final = (
    ("streams", "by_stream", ("events", "events_refused"), ()),
    (
        "subscriptions", "by_subscription", ("results", "notifications_sent", "notifications_missed"),
        ("subscribers", "notifications_queued"),
    ),
)  # fmt: skip
"""Tables by name: their title, their group of the statistics, what is shown as rates, what as levels."""
LEVELS: Final = (
    ("sessions", "broker", "sessions"),
    ("streams", "broker", "streams"),
    ("subscriptions", "broker", "subscriptions"),
    ("queued", "broker", "notifications_queued"),
    ("queued bytes", "broker", "notifications_queued_bytes"),
    ("states", "engine", "states"),
    ("runs", "engine", "runs"),
    ("not final", "engine", "buffered_events"),
    ("finality behind us", "engine", "finality_behind"),
    ("batch p50 us", "loop", "request_microseconds_p50"),
    ("batch p99 us", "loop", "request_microseconds_p99"),
    ("up s", "loop", "uptime_seconds"),
)


def look_at(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], seconds: float
) -> dict[str, Any]:
    """Return rates between two statistics taken so many seconds apart, then levels, without those that the broker
    lacks; then the same by stream and by subscription."""
    look: dict[str, Any] = {}
    for title, group, name in RATES:
        number = _number(now, group, name)
        if number is not None:
            look[title] = round((number - (_number(before, group, name) or 0)) / seconds, 1)
    for title, group, name in LEVELS:
        number = _number(now, group, name)
        if number is not None:
            look[title] = number
    for title, group, rates, levels in NAMED:
        rows = {name: row for name, row in now.get(group, {}).items() if isinstance(row, Mapping)}
        if rows:
            look[f"{title} by name"] = {
                name: {
                    **{f"{each}/s": _rate(before.get(group, {}), now[group], name, each, seconds) for each in rates},
                    **{each: _number(now[group], name, each) or 0 for each in levels},
                }
                for name in rows
            }
    return look


def _rate(before: Mapping[str, Any], now: Mapping[str, Any], name: str, figure: str, seconds: float) -> float:
    """Return a count's rate; a name that was made anew has begun at 0."""
    grown = (_number(now, name, figure) or 0) - (_number(before, name, figure) or 0)
    return round(max(0, grown) / seconds, 1)


def _number(statistics: Mapping[str, Mapping[str, Any]], group: str, name: str) -> float | None:
    """Return a statistic if it is a number."""
    value = statistics.get(group, {}).get(name)
    return value if isinstance(value, int | float) else None
