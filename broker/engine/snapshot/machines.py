"""The sections of machines: the machine of each subscription, each executor's state, and the counts of the lanes.

Machines are numbered in the order of the subscriptions, so that a restored engine writes the same snapshot.

Not here: how an executor writes a machine's state (its own folder).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..dispatch.lanes import Lane
from ..dispatch.matchers import Matcher
from ..dispatch.registrations import Restoring, SavedPlace
from ..dispatch.registry import LaneKey, Registry
from ..executors.contract import BySymbols
from .state import EngineState


def _numbered(registry: Registry) -> dict[Matcher, int]:
    found: dict[Matcher, int] = {}
    for registration in registry.registrations.values():
        for matcher in (registration.matcher, *registration.parts):
            found.setdefault(matcher, len(found))
    return found


def save(state: EngineState) -> Any:
    """Machines, and each subscription's registration.

    Called after the state of machines was saved. O(subscriptions).
    """
    registry = state.program.machines
    numbers = _numbered(registry)
    machines = [[bool(m.taken), int(m.lost), int(m.reported)] for m in numbers]
    places: list[Any] = []
    for name, registration in registry.registrations.items():
        saved = registration.plan.saved(registration.matcher.machine, registration.member, registration.symbols)
        parts = [numbers[matcher] for matcher in registration.parts]
        places.append([name, numbers[registration.matcher], saved, parts])
    return [machines, places]


def begin(state: EngineState, content: Any) -> None:
    """Prepare for subscriptions to join again."""
    machines, places = content
    saved = {name: SavedPlace(*place) for name, *place in places}
    state.program.machines.restoring = Restoring(machines, saved, state.executors)
    restore_forms(state, True)


def save_forms(state: EngineState) -> Any:
    """That the machines of patterns may have one form of runs only, if so: the forms have nothing in common."""
    return None if state.program.machines.options.columns else False


def restore_forms(state: EngineState, content: Any) -> None:
    """Make machines with all forms from now on, or with one only, whatever the switches are."""
    registry = state.program.machines
    registry.options = replace(registry.options, columns=content)


def save_contents(executor: str, state: EngineState) -> Any:
    """The state of one executor's machines. O(state)."""
    registry = state.program.machines
    numbers = _numbered(registry)
    symbols: dict[Matcher, list[int]] = {}
    for registration in registry.registrations.values():
        if registration.plan.executor == executor:
            symbols.setdefault(registration.matcher, []).extend(registration.symbols)
    for matcher, own in symbols.items():
        if isinstance(matcher.machine, BySymbols):
            matcher.machine.order(own)
    return [[number, m.machine.dump()] for m, number in numbers.items() if m.executor == executor]


def restore_contents(executor: str, state: EngineState, content: Any) -> None:
    """Restore the state of machines, after all subscriptions have joined."""
    registry = state.program.machines
    restoring = registry.restoring
    assert restoring is not None
    for number, kept in content:
        matcher = restoring.matchers[number]
        if matcher.executor != executor:
            raise ValueError(f"machine {number} is one of {matcher.executor}, not of {executor}")
        matcher.machine.load(kept)
        matcher.taken, matcher.lost, matcher.reported = restoring.machines[number]
        registry.clock.set(matcher)


def save_lanes(state: EngineState) -> Any:
    """The number of events in each lane and each partition. O(partitions)."""
    lanes: dict[LaneKey, Lane] = {}
    for registration in state.program.machines.registrations.values():
        lanes.setdefault((registration.plan.kind, registration.lane.streams, registration.lane.keys), registration.lane)
    return [
        [*key, int(lane.position), [[part, place] for part, place in lane.places.items()]]
        for key, lane in lanes.items()
    ]


def restore_lanes(state: EngineState, content: Any) -> None:
    """Restore the counts, after all machines exist."""
    registry = state.program.machines
    for kind, streams, keys, position, places in content:
        lane = registry.lanes[kind, streams, keys]
        lane.position, lane.places = position, dict(places)
        for matcher in lane.matchers:
            lane.rouse(matcher)
    registry.restoring = None
