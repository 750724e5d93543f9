"""Determines from a subscription's automaton which plans give exact results, with a reason where one does not.

A plan by key is exact if events of other keys cannot affect the runs of a key: every join keeps a run to its key, and
nothing counts events between two events across keys. A plan by time slices is exact if a match depends only on the
events from its first one on, for at most a window. Both concern results, or the counts of forecasts for training;
forecasts themselves depend on all earlier counts, of all keys.

Not here: choosing a plan (choice).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

from broker.automaton.analyses.agreement import Crossing, crossing
from broker.automaton.analyses.window import looks_back, remembers, window_of
from broker.automaton.automaton import Automaton, Report
from broker.engine import Engine
from broker.engine.subscribing.subscriber import Subscriber
from broker.events import StreamDefinition

Purpose: TypeAlias = Literal["results", "counts"]
"""What must be exact: matches and forecasts (backtest, evaluate), or transition counts (train)."""

KeyOf: TypeAlias = Mapping[str, str]
"""The key attribute of each stream."""

UNBOUNDED: Final = "has no window: how long a match may take is not bounded"
FORECASTS_LEARN: Final = "its forecasts depend on what was counted of all events before"
FORGETS: Final = "it forgets (half_life), and when a step is counted depends on the forecasts for all keys"
CHAIN_GOES_ON: Final = "the state of its chain depends on all events before"

CROSSINGS: Final = {
    Crossing.TAKEN: "not all events of a match have one value of {}",
    Crossing.NEXT_EVENT: "asks for events that are adjacent in the stream, whatever their keys",
    Crossing.NEXT_OF_PARTITION: "asks for events that are adjacent in a partition of more than one value of {}",
    Crossing.FORBIDDEN: "events of any value of {} may contradict its matches",
    Crossing.OVERLAPPED: "reports one result at a time, whatever its value of {}",
}


@final
@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of one subscription. `reads`: declared and published streams. `weight`: the approximate cost of an
    event, in states. `window`: the most microseconds between the first and the last event of a match, None: unbounded.
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
        return self.subscriber.plan is not None

    def against_slices(self, purpose: Purpose) -> str | None:
        """Why a plan by time slices would change results; None if it would not."""
        if self.foretells:
            return CHAIN_GOES_ON if purpose == "counts" else FORECASTS_LEARN
        if self.uncut is not None:
            return self.uncut
        return UNBOUNDED if self.window is None else None

    def against_key(self, keys: KeyOf, streams: Mapping[str, StreamDefinition], purpose: Purpose) -> str | None:
        """Why a plan by these keys would change results; None if it would not. O(size of the automaton)."""
        for stream in self.reads:
            if stream not in streams:
                return f"reads the results of others ({stream})"
            if stream not in keys:
                return f"the stream {stream!r} has no key"
        places = {stream: streams[stream].schema.position(keys[stream]) for stream in self.reads}
        kinds = {streams[stream].schema.attributes[place].type for stream, place in places.items()}
        if len(kinds) > 1:
            return f"its streams have keys of different types ({', '.join(sorted(kinds))})"
        if kinds == {"float"}:
            return "its key is a float"
        plan = self.subscriber.plan
        if plan is not None:
            if purpose == "results":
                return FORECASTS_LEARN
            if plan.settings.half_life is not None:
                return FORGETS
            for stream, positions in plan.positions:
                if places[stream] not in positions:
                    return f"its chain counts events of the stream {stream!r} of several values of {keys[stream]!r}"
        said = ", ".join(f"{stream}.{keys[stream]}" for stream in self.reads)
        found = (crossing(automaton, places) for automaton in self.subscriber.automata())
        return next((CROSSINGS[each].format(said) for each in found if each is not None), None)


def properties_of(engine: Engine) -> dict[str, Properties]:
    """The properties of an engine's subscriptions, by name in the order of its catalog. O(size of the automata)."""
    return {name: _properties(subscriber) for name, subscriber in engine.catalog.subscriptions.items()}


def _properties(subscriber: Subscriber) -> Properties:
    form, automata = subscriber.form, subscriber.automata()
    windows = [window_of(automaton) for automaton in automata]
    longest = None if None in windows else max(filter(None, windows), default=0)
    uncut = next(filter(None, map(_uncut, automata)), None)
    reads = tuple(dict.fromkeys(stream for stream, _ in form.sources))
    return Properties(subscriber, reads, form.publish, max(1, form.states), longest, uncut)


def _uncut(automaton: Automaton) -> str | None:
    """Why matches depend on more than the events from their first one on; None if they do not."""
    if automaton.report is Report.COMPLETIONS:
        return "reports completions, which stand for tuples with different first events"
    if automaton.report is Report.NONOVERLAP:
        return "reports results that do not overlap, which depend on those reported before"
    if looks_back(automaton):
        return "its leading negation asks for events before a match's first one"
    if remembers(automaton):
        return "where its matches begin depends on events before their first one"
    return None
