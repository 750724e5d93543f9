"""The partial matches of one subscription, with their states, keys and ages, and how many wait in each state.

Here: looking at a bounded number of them, for people who watch. Not here: listing them (executors), probabilities of a
key (broker.forecast.asking), pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, Final, NamedTuple, final

from ...automaton.automaton import TAKING, Automaton, Kind
from ..disorder.reordering import Reordering
from ..dispatch.registrations import Registration
from ..matches.sources import WaitingRun, ids
from ..program.program import Program
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber, branch_name

UNKNOWN: Final = -1
EVENTS_A_RUN: Final = 10
"""Events of partial matches that a look reads, times the most partial matches: it ends where these are longer."""


@final
class ListedRun(NamedTuple):
    """A partial match: the values of its key by name, the number of its automaton, its state there (-1: unknown), the
    time of its first event, and ids of its events by operand, empty if they are not kept."""

    key: dict[str, Any]
    automaton: int
    state: int
    begun: int
    events: dict[str, list[int]]


@final
@dataclass(slots=True)
class RunsSeen:
    """What was seen of a subscription's partial matches.

    `runs`: the oldest ones. `states`: how many wait, by automaton and state; `arcs`: how often these have taken an arc,
    by automaton and the arc's index, as far as their events say so. `looked` at so many; `more`: there are others.
    `unlisted`: an executor keeps partial matches that it does not list.
    """

    runs: list[ListedRun] = field(default_factory=list)
    states: dict[tuple[int, int], int] = field(default_factory=dict)
    arcs: dict[tuple[int, int], int] = field(default_factory=dict)
    looked: int = 0
    more: bool = False
    unlisted: bool = False


@final
class Walk:
    """The states of runs of one automaton, by the operands of their events."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._known: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        self._arcs: dict[int, list[tuple[int, int, int]]] = {}  # by state: operand (below 0: takes none), arc, target
        named = len(automaton.operands) > 0
        for number, arc in enumerate(automaton.arcs):
            if arc.kind in TAKING or (arc.kind is Kind.EPSILON and arc.target != automaton.final):
                takes = UNKNOWN if arc.kind is Kind.EPSILON else arc.operand if named else arc.target - 1
                self._arcs.setdefault(arc.source, []).append((takes, number, arc.target))

    def of(self, operands: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """The state behind these events, and the arcs that led there: the first way in the order of arcs. UNKNOWN if
        there is none."""
        found = self._known.get(operands)
        if found is None:
            found = self._known[operands] = self._way(operands)
        return found

    def _way(self, operands: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        open_ways: list[tuple[int, int, tuple[int, ...], frozenset[int]]] = [(0, 0, (), frozenset())]
        while open_ways:
            state, at, taken, passed = open_ways.pop()
            if at == len(operands):
                return state, taken
            for operand, number, target in reversed(self._arcs.get(state, [])):
                if operand == operands[at] and target != self.automaton.final:
                    open_ways.append((target, at + 1, (*taken, number), frozenset()))
                elif operand == UNKNOWN and number not in passed:
                    open_ways.append((target, at, (*taken, number), passed | {number}))
        return UNKNOWN, ()


def waiting_runs(
    catalog: Catalog, program: Program, disorder: Reordering | None, runs: Any, name: str, now: int, most: int,
    listed: int,
) -> RunsSeen:  # fmt: skip
    """Look at up to `most` runs, those of others that lie between included; list the oldest.

    O(most log listed), and what it takes to find one of many that share a machine.
    """
    found = RunsSeen()
    subscriber = catalog.subscriptions[name]
    seen: list[ListedRun] = []
    events = 0
    automata = zip(subscriber.as_written(), subscriber.automata())  # whose states are the same
    sources = _sources(catalog, program, disorder, runs, subscriber, now)
    for number, ((written, automaton), begun) in enumerate(zip(automata, sources)):
        if begun is None:
            found.unlisted = True
            continue
        walk, keys = Walk(written), automaton.partition
        for run in begun:
            if found.looked >= most or events > EVENTS_A_RUN * most:
                found.more = True
                break
            found.looked += 1
            if run is not None:
                events += len(run.assigned)
                seen.append(_counted(found, walk, keys, number, run))
    found.runs = nsmallest(listed, seen, key=lambda run: run.begun)
    return found


def _counted(found: RunsSeen, walk: Walk, keys: tuple[str, ...], number: int, run: WaitingRun) -> ListedRun:
    operands = walk.automaton.operands
    events: dict[str, list[int]] = {}
    state = run.state
    arcs: tuple[int, ...] = ()
    ordered = tuple([component for component, _, _ in sorted(run.assigned, key=lambda each: each[2])])
    if ordered and min(ordered) >= 0:
        known, arcs = walk.of(ordered)
        state = known if state < 0 else state
    for component, item, _ in run.assigned:
        name = operands[component] if 0 <= component < len(operands) else "events"
        events.setdefault(name, []).extend(ids(item))
    place = number, state
    found.states[place] = found.states.get(place, 0) + 1
    for arc in arcs:
        found.arcs[number, arc] = found.arcs.get((number, arc), 0) + 1
    names = [*keys, *([] if len(keys) >= len(run.key) else [f"key {at + 1}" for at in range(len(keys), len(run.key))])]
    if len(names) == 1 and not keys:
        names = ["key"]
    return ListedRun(dict(zip(names, run.key)), number, state, run.begun, events)


def _sources(
    catalog: Catalog, program: Program, disorder: Reordering | None, runs: Any, subscriber: Subscriber, now: int
) -> Iterator[Iterator[WaitingRun | None] | None]:  # fmt: skip
    """The runs of each of the subscription's automata."""
    name, machines = subscriber.name, program.machines
    revising = None if disorder is None else disorder.readers.by_name.get(name)
    if revising is not None:
        yield revising.group.reviser.waiting_runs(revising.place)
        return
    if subscriber.machine is not None:
        registration = machines.registrations.get(name)
        if registration is not None:
            yield _of_machine(registration, now)
        return
    holding = catalog.holdings.get(name)
    ends = {} if holding is None else holding.ends
    for branch in range(len(subscriber.form.branches)):
        registration = machines.registrations.get(branch_name(name, branch))
        if registration is not None:
            yield _of_machine(registration, now)
        else:
            states = program.merged.waiting_states(ends[branch]) if branch in ends else []
            yield runs.waiting_runs(states, int(subscriber.since))


def _of_machine(registration: Registration, now: int) -> Iterator[WaitingRun | None] | None:
    lane = registration.lane
    return registration.matcher.machine.waiting_runs(registration.member, now, lane.position, lane.places)
