"""The subscriptions of the demonstration as text, and the words that explain each; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, final

from ...language.names import LanguageName

MOVEMENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tail": "string",
        "carrier": "string",
        "flight": "int",
        "origin": "string",
        "dest": "string",
        "delay": "int",
    }
)
"""The attributes of both streams; `delay` is in minutes, of the departure or of the arrival."""

STREAMS: Final = ("Departures", "Arrivals")


@final
@dataclass(frozen=True, slots=True)
class DemoPattern:
    """A subscription, its explanation, how a notification is printed, and its colour.

    `story` is filled with the values of the notification.
    """

    name: str
    query: str
    meaning: str
    story: str
    colour: str
    language: LanguageName = "cayuga"
    report: str | None = None
    forecast: Mapping[str, Any] | None = None


THREE_LATE: Final = DemoPattern(
    "three-late",
    """
    SELECT tail, carrier, origin, dest, delay_1_1 AS first, delay_1 AS second, delay AS third FROM
      FILTER{delay > 30}(
        FILTER{delay > 30}(FILTER{delay > 30}(Departures) NEXT{$2.tail = $1.tail} Departures)
        NEXT{$2.tail = $1.tail} Departures)
    PUBLISH ThreeLate
    """,
    "one aircraft left New York late by more than 30 minutes three times in a row",
    "{origin} to {dest}, delays {first}, {second}, {third} min",
    "yellow",
)

OUT_AND_BACK: Final = DemoPattern(
    "out-and-back",
    """
    SELECT tail, carrier, origin, dest_1 AS away, dest, delay_1 AS arrival, delay AS departure FROM
      FILTER{delay > 60 AND origin = origin_1}(
        FILTER{delay > 60}(Arrivals) NEXT{$2.tail = $1.tail AND DUR < 12 hours} Departures)
    PUBLISH OutAndBack
    """,
    "an aircraft arrived over an hour late, and its next departure from New York, within 12 hours and from the same"
    " airport as before, was also over an hour late (flights to New York are not in the data)",
    "{origin} to {away} arrived {arrival} min late, then {origin} to {dest} left {departure} min late",
    "cyan",
)

GROWING: Final = DemoPattern(
    "growing",
    """
    SELECT tail, carrier, origin, dest, legs, delay_1 AS first, delay AS last FROM
      FILTER{legs = 3}(
        (SELECT *, 1 AS legs FROM FILTER{delay > 0}(Departures))
        FOLD{$2.tail = $.tail AND DUR < 18 hours, $2.delay > $.delay, $.legs + 1 AS legs} Departures)
    PUBLISH Growing
    """,
    "the delay of one aircraft grew from departure to departure, over three departures within 18 hours",
    "{origin} to {dest}, its delay grew from {first} to {last} min over {legs} departures",
    "magenta",
)

CONTAGION: Final = DemoPattern(
    "contagion",
    """
    SELECT tail_1 AS other, tail, carrier, origin, dest, delay FROM
      FILTER{delay > 60}(ThreeLate NEXT{$2.carrier = $1.carrier AND $2.origin = $1.origin} Departures)
    PUBLISH Contagion
    """,
    "after three-late, the next departure of the same airline from the same airport was over an hour late, too:"
    " a pattern over the results of a pattern",
    "{origin} to {dest}, left {delay} min late, the next of airline {carrier} after {other}",
    "red",
)

LATE_AGAIN: Final = DemoPattern(
    "late-again",
    """
    FROM Departures BY tail
    first, second, third: delay > 15
    MATCH first, second, third
    """,
    "one aircraft left more than 15 minutes late three times in a row; forecast when the probability of that within its"
    " next three departures exceeds 35 %, by the counts of all departures of the year so far",
    "",
    "green",
    "ptopss",
    "completions",
    MappingProxyType({"within": 3, "threshold": 0.35, "context": ["key"]}),
)

PATTERNS: Final = (THREE_LATE, OUT_AND_BACK, GROWING, CONTAGION)
"""In the order of subscribing: the last one reads the stream that the first one publishes."""
