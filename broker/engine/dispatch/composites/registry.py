"""Composite subscriptions of all streams: which machine or word each has, coming and going.

Equal subscriptions have one machine as long as it has not taken an event, chains of contiguous words share a trie; who
comes later sees only tuples that begin later. Here: that choice, and the streams' lanes. Not here: what an event does
(lanes), how tuples are counted (tuples, words).
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final, TypeAlias, cast, final

from ....algebra.composite import Chain, Composite, Leaf, Structure
from ....automaton.paths import PathAutomaton, compile_paths
from ....events.errors import Unsupported
from ...directory import Directory
from ...executors.contract import Input
from ...executors.matches import ids
from ...executors.sequence_trie.dump import check_invariants as check_words
from ...executors.sequence_trie.terms import Term
from ...executors.tuple_counts import Bounds, Machine, TupleCounts
from ...options import Options
from ...subscriber import Form, Subscriber
from ...target import Feed, Outcome, Target
from ...transition import Transition
from ..lanes import Lane
from ..matchers import Clock, Matcher
from ..symbols import Alphabet

LIMITS: Final = "bindings_max, cells_max or nodes_max"

Alike: TypeAlias = tuple[object, ...]


@final
class Assembly:
    """A composite subscription and report, ready to run: what its form keeps. `words` where it is a chain of these, of
    which completions are reported, else `paths`. Raises LimitExceeded or DefinitionError (compile_paths)."""

    def __init__(self, composite: Composite, tuples: bool, foretold: bool = False) -> None:
        """`foretold`: a machine is wanted, since words do not say where they are."""
        self.composite = composite
        self.tuples = tuples
        self.words = None if tuples or foretold else words_of(composite)
        self.paths: PathAutomaton | None = compile_paths(composite) if self.words is None else None

    def alike(self) -> Alike:
        """Equal for subscriptions that may share a machine."""
        composite = self.composite
        operands = tuple((operand.name, operand.guard, operand.joins) for operand in composite.operands)
        shape = (composite.structure, composite.conditions, composite.within)
        return (composite.stream, composite.partition, operands, shape, composite.variables, self.tuples)

    def inputs(self) -> list[Input]:
        composite = self.composite
        return [Input(composite.stream, operand.guard) for operand in composite.operands]

    def outcome(self) -> Outcome:
        composite = self.composite
        floats = [attribute.type == "float" for attribute in composite.result_schema.attributes]
        return Outcome(composite.variables, (), floats, LIMITS)


def words_of(composite: Composite) -> list[list[int]] | None:
    """The operands as a chain of contiguous words; None where it is more than that."""
    if composite.variables or composite.conditions or composite.within is not None or composite.partition:
        return None
    parts: tuple[Structure, ...]
    separators: tuple[str, ...]
    match composite.structure:
        case Leaf():
            parts, separators = (composite.structure,), ()
        case Chain(parts, separators):
            pass
        case _:
            return None
    words: list[list[int]] = [[]]
    for number, part in enumerate(parts):
        if not isinstance(part, Leaf):
            return None
        if number and separators[number - 1] == ";":
            words.append([])
        words[-1].append(part.operand)
    return words


@final
class Seat:
    """Where a subscription is: in a machine, or at a term of the words. `symbols` are those of its operands."""

    def __init__(self, lane: Lane, matcher: Matcher | None, term: Term | None, symbols: list[int]) -> None:
        self.lane = lane
        self.symbols = symbols
        self.matcher = matcher
        self.term = term
        self.parts: list[Matcher] = []  # machines of its parts, which forecasts follow

    def counts(self) -> TupleCounts | None:
        """Its machine; None for words."""
        return None if self.matcher is None else cast(TupleCounts, self.matcher.machine)

    def target(self) -> Target:
        if self.matcher is not None:
            return self.matcher.target
        assert self.term is not None
        assert isinstance(self.term.target, Target)
        return self.term.target

    def put(self, target: Target) -> None:
        if self.matcher is not None:
            self.matcher.put(target)
        elif self.term is not None:
            self.term.target = target


@final
class Seating:
    """Where subscriptions were when a snapshot was taken, while they come again: by name, the number of a machine or of
    a term of the words, and the symbols of the operands then; `matchers` those of the machines that are there again;
    `parts` the numbers of the machines of parts."""

    def __init__(self, places: dict[str, tuple[int, int, list[int]]], parts: dict[str, list[int]]) -> None:
        self.places = places
        self.parts = parts
        self.matchers: dict[int, Matcher] = {}
        self.symbols: dict[Lane, dict[int, int]] = {}
        # Lane, term, subscriber, outcome, feed and symbols of those for whom the words are not there yet.
        self.waiting: list[tuple[Lane, int, Subscriber, Outcome, Feed | None, list[int]]] = []


@final
class Composites:
    """Lanes by stream; `lanes` is what the runtime reads."""

    def __init__(self, directory: Directory, symbols: Alphabet, clock: Clock, options: Options) -> None:
        self.directory = directory
        self.clock = clock
        self.options = options
        self.lanes: dict[int, list[Lane]] = {}  # by stream number
        self.feeding = 0  # subscriptions whose results make up streams
        self.seats: dict[str, Seat] = {}  # by subscription
        self.symbols = symbols
        self._newest: dict[Alike, Matcher] = {}
        self.seating: Seating | None = None

    def join(self, assembly: Assembly, subscriber: Subscriber, feed: Feed | None) -> None:
        """Enter a subscription. O(its size)."""
        self.feeding += feed is not None
        composite = assembly.composite
        lane = self._lane(composite.stream, composite.partition)
        numbers = self.symbols.acquire(assembly.inputs())
        if self.seating is not None and assembly.words:
            _, term, old = self.seating.places[subscriber.name]
            self.seating.symbols.setdefault(lane, {}).update(zip(old, numbers, strict=True))
            self.seating.waiting.append((lane, term, subscriber, assembly.outcome(), feed, numbers))
            self._spell(lane, numbers)
            return
        if assembly.words:
            seat = self._spelled(lane, assembly, numbers)
        else:
            seat = self._seated(lane, assembly, numbers, subscriber.name)
        self.seats[subscriber.name] = seat
        seat.target().serve(subscriber, feed)
        seat.put(seat.target())

    def _spelled(self, lane: Lane, assembly: Assembly, numbers: list[int]) -> Seat:
        assert assembly.words is not None
        term = lane.words.add([[numbers[operand] for operand in word] for word in assembly.words])
        if term.target is None:
            term.target = Target(assembly.outcome(), None)
        self._spell(lane, numbers)
        return Seat(lane, None, term, numbers)

    def _spell(self, lane: Lane, numbers: list[int]) -> None:
        for number in numbers:
            lane.spelled[number] = lane.spelled.get(number, 0) + 1

    def _seated(self, lane: Lane, assembly: Assembly, numbers: list[int], name: str) -> Seat:
        seating = self.seating
        alike = assembly.alike()
        before = -1 if seating is None else seating.places[name][0]
        matcher = self._newest.get(alike) if seating is None else seating.matchers.get(before)
        if matcher is None or (matcher.machine.taken and seating is None):
            assert assembly.paths is not None
            machine = Machine(assembly.paths, assembly.tuples, self._bounds())
            counts = TupleCounts(machine, assembly.composite.partition, assembly.inputs())
            matcher = Matcher(counts, Target(assembly.outcome(), None), not assembly.tuples)
            self._newest[alike] = matcher
            if seating is not None:
                seating.matchers[before] = matcher
            lane.enter(matcher, numbers)
        return Seat(lane, matcher, None, numbers)

    def _bounds(self) -> Bounds:
        options = self.options
        kept = options.bindings_max, options.cells_max, options.nodes_max
        return Bounds(*kept, options.work_max, options.work_earned)

    def divide(self, name: str, parts: list[tuple[PathAutomaton, list[int]]]) -> list[Matcher]:
        """Machines of parts of a subscription, beside its own: the automaton of each, and which of the subscription's
        operands its own are. They are to be followed. O(operands)."""
        seat = self.seats[name]
        for at, (paths, operands) in enumerate(parts):
            whole = seat.counts()
            assert whole is not None
            inputs = [whole.inputs[operand] for operand in operands]
            counts = TupleCounts(Machine(paths, False, self._bounds()), whole.by, inputs)
            matcher = Matcher(counts, Target(Outcome((), ()), None), True)
            seat.lane.enter(matcher, [seat.symbols[operand] for operand in operands])
            seat.parts.append(matcher)
            if self.seating is not None:
                self.seating.matchers[self.seating.parts[name][at]] = matcher
        return seat.parts

    def unite(self, name: str) -> None:
        """Undo `divide`. O(machines that read the subscription's symbols)."""
        seat = self.seats[name]
        for matcher in seat.parts:
            seat.lane.leave(matcher, seat.symbols)
        seat.parts = []

    def leave(self, assembly: Assembly, name: str, feed: Feed | None) -> None:
        """Undo one `join`. O(its size, and machines that read its symbols)."""
        self.feeding -= feed is not None
        composite = assembly.composite
        seat = self.seats.pop(name)
        target = seat.target().without_feed(name, feed)
        seat.put(target)
        numbers = seat.symbols
        lane = seat.lane
        if seat.term is not None:
            if target.first is None:
                seat.term.target = None
            lane.words.remove(seat.term)
            for number in numbers:
                lane.spelled[number] -= 1
                if not lane.spelled[number]:
                    del lane.spelled[number]
        elif seat.matcher is not None and target.first is None:
            self._dismiss(lane, assembly, seat.matcher, numbers)
        self.symbols.release(assembly.inputs())
        if lane.empty():
            number = self.directory.stream(composite.stream)
            self.lanes[number].remove(lane)
            if not self.lanes[number]:
                del self.lanes[number]

    def _dismiss(self, lane: Lane, assembly: Assembly, matcher: Matcher, numbers: list[int]) -> None:
        lane.leave(matcher, numbers)
        alike = assembly.alike()
        if self._newest.get(alike) is matcher:
            del self._newest[alike]

    def _lane(self, stream: str, positions: tuple[int, ...]) -> Lane:
        lanes = self.lanes.setdefault(self.directory.stream(stream), [])
        keys = (positions,) if positions else ()
        for lane in lanes:
            if lane.keys == keys:
                return lane
        lane = Lane((stream,), keys, self.clock, len(positions) > 0)
        lanes.append(lane)
        return lane

    def partial(self, name: str, most: int) -> list[dict[str, list[int]]]:
        """Tuples begun, ids by operand. Raises Unsupported for what has no machine of its own."""
        seat = self.seats.get(name)
        counts = None if seat is None else seat.counts()
        if seat is None or counts is None:
            raise Unsupported(f"subscription {name!r}: only a composite one with a machine of its own keeps tuples")
        first = seat.target().first
        assert first is not None
        operands = first.form.operands
        begun = islice(counts.partial(seat.lane.position, seat.lane.places), most)
        return [{operands[operand]: ids(item) for operand, item, _ in tuple_} for tuple_ in begun]

    def users(self, arc: Transition) -> list[str]:
        """The subscriptions that have an operand with this arc's guard. O(symbols + subscriptions)."""
        numbers = self.symbols.having(arc)
        return [name for name, seat in self.seats.items() if numbers.get(seat.lane.streams[0], -1) in seat.symbols]

    # --- inspection ---------------------------------------------------------------------------------------------

    def all_lanes(self) -> list[Lane]:
        return [lane for lanes in self.lanes.values() for lane in lanes]

    def statistics(self) -> dict[str, int]:
        """`machines` and `terms` of words; what their partial matches are kept in."""
        figures = {"machines": 0, "terms": 0, "bindings": 0, "cells": 0, "nodes": 0, "entries": 0}
        for lane in self.all_lanes():
            figures["machines"] += len(lane.matchers)
            figures["terms"] += lane.words.statistics()["terms"]
            for matcher in lane.matchers:
                for name, count in matcher.machine.statistics().items():
                    if name in figures:
                        figures[name] += count
        return figures

    def check_invariants(self) -> None:
        for lane in self.all_lanes():
            assert not lane.empty()
            check_words(lane.words)
            for matcher in lane.matchers:
                matcher.machine.check_invariants()
        for seat in self.seats.values():
            assert seat.target().first is not None


def assembly_of(form: Form) -> Assembly | None:
    """The assembly of a composite subscription's form; None for any other."""
    assembly: Any = form.assembly
    return assembly if isinstance(assembly, Assembly) else None
