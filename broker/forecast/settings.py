"""The settings of a subscription's forecasts: the table `forecast` of its definition, read and checked.

    within       events of the key, or a duration such as "5 min": the horizon. Always needed
    threshold    a forecast is reported when the probability exceeds it; 0.5 by default
    context      circumstances that have counts of their own (broker.forecast.contexts)
    per          "key": a step is an event of the key (default); "stream": of the whole stream
    states       "furthest": the most advanced live state (default); "set": the set of all live ones
    half_life    how long until a count weighs half; for ever by default
    effective    how many transitions must stand behind a state before anything is forecast; by default as many as
                 larger pools can lend: 20, with the key and more in the context 10
    cautious     the lower end of the interval must exceed the threshold, not the probability
    uncalibrated  true: over a time, forecasts are reported also where earlier ones were worse than the base rate
    recalibrate  probabilities are corrected by the outcomes of earlier ones
    parts        true: forecasts of AND, OR and ";" are combined from those of their parts; false: never; else where the
                 whole has many states
    exceeds      of windows: an aggregate and a number, which it must exceed (broker.forecast.exceeding)

Here: these options. Not here: their effects (subscription).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

from ..events.errors import DefinitionError, EventError, shown
from ..events.instant import parse_duration
from ..events.schema import Schema
from .chain import Shape
from .contexts import ContextDefinition, read_context
from .counts import Counts
from .forecaster import PARENT_STRENGTH, POOL_STRENGTH, Forecaster

EVENTS_MAX: Final = 10_000
"""The horizon, in events."""
DURATION_MAX: Final = 2**53
"""The horizon, in microseconds; some 285 years."""
EFFECTIVE_MAX: Final = 1_000_000_000
"""Transitions that may be asked for; with so many, nothing is ever forecast."""
PER: Final = ("key", "stream")
STATES: Final = ("furthest", "set")

Per: TypeAlias = Literal["key", "stream"]
Numbering: TypeAlias = Literal["furthest", "set"]


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """`steps`: the horizon in events, 0 where it is `duration`, in microseconds. `written`: as the user wrote it."""

    steps: int
    duration: int
    threshold: float
    context: ContextDefinition
    per: Per
    states: Numbering
    half_life: int | None
    uncalibrated: bool
    effective: float
    cautious: bool
    recalibrate: bool
    parts: bool | None
    written: Mapping[str, Any]

    @property
    def within(self) -> int:
        """The horizon in the unit of its clock: events, or microseconds."""
        return self.steps or self.duration

    @property
    def values(self) -> int:
        """How many values a context has."""
        return len(self.context.parts)

    def forecaster(self, version: str, form: Shape, counts: Counts) -> Forecaster:
        """The forecasts of a chain of that form, with what is known of it already."""
        return Forecaster(version, form, max(self.steps, 1), counts, self.values, self.context.keyed)


def read_settings(written: Mapping[str, Any], schema: Schema, key: str | None) -> Settings:
    """`schema` and `key` of the stream that the subscription reads. Raises DefinitionError in one line."""
    if "within" not in written:
        raise DefinitionError('forecast: expected within, a number of events or a duration such as "5 min"')
    steps, duration = read_horizon(written["within"])
    threshold = written.get("threshold", 0.5)
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise _wrong("threshold", "a probability from 0 to less than 1", threshold)
    per, states = written.get("per", "key"), written.get("states", "furthest")
    if per not in PER:
        raise _wrong("per", "'key' or 'stream'", per)
    if states not in STATES:
        raise _wrong("states", "'furthest' or 'set'", states)
    context = _context(written, schema, key if per == "key" else None)
    lent = PARENT_STRENGTH if context.keyed and len(context.parts) > 1 else POOL_STRENGTH
    effective = written.get("effective", lent)
    if isinstance(effective, bool) or not isinstance(effective, int | float) or not 0 <= effective <= EFFECTIVE_MAX:
        raise _wrong("effective", f"a number of transitions, 0 to {EFFECTIVE_MAX}", effective)
    return Settings(
        steps,
        duration,
        float(threshold),
        context,
        per,
        states,
        _half_life(written.get("half_life")),
        _flag(written, "uncalibrated"),
        float(effective),
        _flag(written, "cautious"),
        _flag(written, "recalibrate"),
        _flag(written, "parts") if "parts" in written else None,
        dict(written),
    )


def _context(written: Mapping[str, Any], schema: Schema, key: str | None) -> ContextDefinition:
    context = written.get("context", [])
    if key is None and isinstance(context, list | tuple) and "key" in context:
        raise DefinitionError(
            "forecast: context: 'key' expects a chain for each key: a stream that declares one, joins that keep to it,"
            " and not per = 'stream'"
        )
    try:
        return read_context(context, schema, key)
    except DefinitionError as error:
        raise DefinitionError(f"forecast: {error}") from None


def read_horizon(within: object) -> tuple[int, int]:
    """A horizon in events and one in microseconds, of which one is 0. Raises DefinitionError."""
    if type(within) is int and 1 <= within <= EVENTS_MAX:
        return within, 0
    if isinstance(within, str):
        try:
            duration = parse_duration(within)
        except (EventError, DefinitionError, ValueError):
            duration = 0
        if 1 <= duration <= DURATION_MAX:
            return 0, duration
    raise _wrong("within", f'a number of events, 1 to {EVENTS_MAX}, or a duration such as "5 min"', within)


def _half_life(written: object) -> int | None:
    if written is None:
        return None
    try:
        found = parse_duration(written) if isinstance(written, int | str) and not isinstance(written, bool) else 0
    except (EventError, DefinitionError, ValueError):
        found = 0
    if found < 1:
        raise _wrong("half_life", 'a duration such as "30 days"', written)
    return found


def _flag(written: Mapping[str, Any], name: str) -> bool:
    found = written.get(name, False)
    if type(found) is not bool:
        raise _wrong(name, "true or false", found)
    return found


def _wrong(name: str, expected: str, found: object) -> DefinitionError:
    return DefinitionError(f"forecast: {name}: expected {expected}, found {shown(found)}")
