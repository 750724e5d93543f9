"""What a subscription allows of a plan, read from what it was compiled to: reasons, never guesses.

A plan by key is exact if no event of another key can change anything for the runs of one: every join keeps a run to its
key, and nothing counts what lies between two events across keys. A plan by time slices is exact if a match is decided
by the events from its first one on, for no longer than a window. Both are meant of the results, and of the counts of
forecasts where these are asked for; forecasts themselves depend on all that was counted before, of all keys.

Here: finding that out. Not here: what a job does with it (choice).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

from broker.automaton.analyses.ignoring import asks_for_adjacent_events, asks_for_adjacent_events_of_a_partition
from broker.automaton.analyses.keys import key_parts, places
from broker.automaton.analyses.variables import variables_of
from broker.automaton.analyses.window import is_one_event, looks_back, state_windows, window_of
from broker.automaton.automaton import Automaton, Kind, Report
from broker.engine import Engine
from broker.engine.executors.composite_plan import CompositePlan
from broker.engine.executors.kleene.machine_plan import PatternPlan
from broker.engine.forecasts.keys import key_of_automata
from broker.engine.forecasts.plan import ForecastPlan
from broker.engine.subscriber import Subscriber
from broker.events import StreamDefinition
from broker.events.instant import FOREVER

Purpose: TypeAlias = Literal["results", "counts"]
"""What must be exact: matches and forecasts (backtest, evaluate), or transition counts (train)."""

KeyOf: TypeAlias = Mapping[str, str]
"""By stream, the attribute that is its key."""

UNBOUNDED: Final = "has no window: how long a match may take is not bounded"
FORECASTS_LEARN: Final = "its forecasts depend on what was counted of all events before"
FORGETS: Final = "it forgets (half_life), and when a step is counted depends on the forecasts for all keys"
CHAIN_GOES_ON: Final = "the state of its chain depends on all events before"


@final
@dataclass(frozen=True, slots=True)
class Properties:
    """What was found of one subscription. `reads`: declared streams and published ones; `weight`: about what an event
    costs, in states. `window`: microseconds between the first and the last event of a match at most, None: unbounded.
    `uncut`: why its matches cannot be cut by time, whatever the window; None if they can."""

    subscriber: Subscriber
    reads: tuple[str, ...]
    publishes: str | None
    weight: int
    window: int | None
    uncut: str | None

    @property
    def name(self) -> str:
        return self.subscriber.name

    @property
    def foretells(self) -> bool:
        """Whether it counts transitions and makes forecasts."""
        return isinstance(self.subscriber.plan, ForecastPlan)

    def against_slices(self, purpose: Purpose) -> str | None:
        """Why a plan by time slices would change something; None if it would not."""
        if self.foretells:
            return CHAIN_GOES_ON if purpose == "counts" else FORECASTS_LEARN
        if self.uncut is not None:
            return self.uncut
        return UNBOUNDED if self.window is None else None

    def against_key(self, keys: KeyOf, streams: Mapping[str, StreamDefinition], purpose: Purpose) -> str | None:
        """Why a plan by these keys would change something; None if it would not. O(its size)."""
        for stream in self.reads:
            if stream not in streams:
                return f"reads the results of others ({stream})"
            if stream not in keys:
                return f"the stream {stream!r} has no key"
        kinds = {streams[stream].schema.attributes[_place(streams, stream, keys)].type for stream in self.reads}
        if len(kinds) > 1:
            return f"its streams have keys of different types ({', '.join(sorted(kinds))})"
        if kinds == {"float"}:
            return "its key is a float"
        plan = self.subscriber.plan
        if isinstance(plan, ForecastPlan):
            if purpose == "results":
                return FORECASTS_LEARN
            if plan.settings.half_life is not None:
                return FORGETS
            for stream, positions in plan.positions:
                if _place(streams, stream, keys) not in positions:
                    return f"its chain counts events of the stream {stream!r} of several values of {keys[stream]!r}"
        return _joined(self.subscriber, keys, streams)


def properties_of(engine: Engine) -> dict[str, Properties]:
    """Of all subscriptions of an engine, by name in the order of its catalog. O(their size)."""
    return {name: _properties(subscriber) for name, subscriber in engine.catalog.subscriptions.items()}


def _properties(subscriber: Subscriber) -> Properties:
    form = subscriber.form
    window, uncut = _window(subscriber)
    reads = tuple(dict.fromkeys(stream for stream, _ in form.sources))
    return Properties(subscriber, reads, form.publish, max(1, form.states), window, uncut)


def _place(streams: Mapping[str, StreamDefinition], stream: str, keys: KeyOf) -> int:
    return streams[stream].schema.position(keys[stream])


# --- time ---------------------------------------------------------------------------------------------------------


def _window(subscriber: Subscriber) -> tuple[int | None, str | None]:
    """How long a match takes at most, and why it cannot be cut by time."""
    machine = subscriber.machine
    if isinstance(machine, PatternPlan):
        return _window_of_line(machine.automaton)
    if isinstance(machine, CompositePlan):
        if not machine.tuples:
            return None, "reports completions, which stand for tuples with different first events"
        return window_of(machine.automaton), None
    longest = 0
    for automaton in subscriber.form.compiled(subscriber.literals).automata:
        if len(automaton.states) > 1:
            window = state_windows(automaton)[-1]
            if window == FOREVER:
                return None, None
            longest = max(longest, window)
    return longest, None


def _window_of_line(automaton: Automaton) -> tuple[int | None, str | None]:
    uncut = None
    if automaton.report == Report.NONOVERLAP:
        uncut = "reports results that do not overlap, which depend on those reported before"
    elif looks_back(automaton):
        uncut = "its leading negation asks for events before a match's first one"
    return window_of(automaton), uncut


# --- keys ---------------------------------------------------------------------------------------------------------


def _joined(subscriber: Subscriber, keys: KeyOf, streams: Mapping[str, StreamDefinition]) -> str | None:
    """Why the events of one match may have different keys, or those of other keys matter to it; None if not."""
    machine = subscriber.machine
    if isinstance(machine, PatternPlan):
        return _joined_line(machine.automaton, keys, streams)
    if isinstance(machine, CompositePlan):
        (stream,) = machine.streams()
        return _joined_tuples(machine.automaton, _place(streams, stream, keys), keys[stream])
    automata = subscriber.form.compiled(subscriber.literals).automata
    sources = list(dict.fromkeys(stream for stream, _ in subscriber.form.sources))
    if all(len(automaton.states) == 1 for automaton in automata):
        return None
    places = {stream: _place(streams, stream, keys) for stream in sources}
    if all(positions for _, positions in key_of_automata(automata, sources, places)):
        return None
    return f"not every join keeps a match to one value of {_said(keys, sources)}"


def _joined_line(automaton: Automaton, keys: KeyOf, streams: Mapping[str, StreamDefinition]) -> str | None:
    if is_one_event(automaton):
        return None
    if asks_for_adjacent_events(automaton):
        return "asks for events that are adjacent in the stream, whatever their keys (strict_contiguity)"
    names = [source.stream for source in automaton.sources]
    parts = key_parts(automaton)
    for number, part in enumerate(parts):
        taking = [arc for arc in automaton.arcs if arc.kind in (Kind.FORWARD, Kind.LOOP)]
        if any(part.positions[arc.operand] != _place(streams, arc.stream, keys) for arc in taking):
            continue
        partitioned = number < len(automaton.partition)
        if not partitioned and asks_for_adjacent_events_of_a_partition(automaton):
            return f"asks for events that are adjacent in a partition of more than one value of {_said(keys, names)}"
        if not all(number in places(automaton, parts, arc) for arc in automaton.arcs if arc.kind == Kind.KILL):
            return f"events of any value of {_said(keys, names)} may contradict its matches"
        return None
    return f"not all events of a match have one value of {_said(keys, names)}"


def _joined_tuples(automaton: Automaton, place: int, name: str) -> str | None:
    if place in automaton.sources[0].key or len(automaton.operands) == 1:
        return None
    variables = variables_of(automaton)
    taken = [positions for positions in variables.asked if positions is not None]
    if not any(all(place in positions[variable] for positions in taken) for variable in variables.key):
        return f"not all its operands have one value of {name!r}"
    if asks_for_adjacent_events_of_a_partition(automaton):
        return "asks for events that are adjacent in the stream, whatever their keys (',')"
    return None


def _said(keys: KeyOf, streams: list[str]) -> str:
    return ", ".join(f"{stream}.{keys[stream]}" for stream in dict.fromkeys(streams))
