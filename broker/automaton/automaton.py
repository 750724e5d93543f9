"""The register automaton that every language lowers to (semantics 6.1): states, arcs and registers.

Here: immutable values, comparable and hashable by meaning, so that equal states of different subscriptions are found by
hashing. Not here: their construction (constructions), facts about them (analyses), execution (engine).

A run is in one state. It keeps *registers*: the row of the event that it took last, and numbered slots, each with an
earlier row, a value or a time. An arc fills the slots of its target. At an event, a run stays in its state if the
state's `stay` allows it, and a copy of it takes every arc whose guard holds. If neither happens, the run ends.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ..algebra.guard import Accumulation, Join
from ..algebra.normal_form import ALWAYS, Form, describe_form
from ..algebra.partitioned_stream import PartitionedStream
from ..algebra.terms import Term, describe
from ..events.instant import FOREVER
from ..events.schema import Row, Schema, ValueType
from ..language.wording import UNSAID, Wording
from .distances import Distances
from .machines.tree import MachineTree
from .windows.window_automaton import WindowAutomaton


class Kind(enum.Enum):
    """The kinds of arcs.

    FORWARD takes an event and leads to another state; LOOP takes one and returns to its state. If a state stays by
    FAILING and has a loop, an event that affects a run takes no other arc unless it takes the loop.

    EPSILON takes no event. Without peeking it is followed whenever a run enters its source, if its guard, which reads
    only registers, holds; so is an EPSILON out of its target. The run in the source continues as well. With peeking it
    is followed at an event, if its guard holds. If the source takes the event or lets it pass, a copy of the run takes
    each arc of the target that the event satisfies, and does not stay there. Otherwise the run itself moves to the
    target before the event, and takes it or lets it pass as the target does.

    KILL forbids events and leads nowhere: no event of the match's partition may satisfy its guard within a range. The
    guard reads the registers of the whole match, as before the arc to the final state. For most states the range lies
    between the last event that the run had on entering the state and the event with which it left. For the start it is
    a range of time, from the first event of the match back to `within` before the last, both exclusive; for a state
    left by TIMEOUT, from the last event, exclusive, to `within` after the first, inclusive. Its target is its source;
    or, at the start, the state behind it, if only the runs that begin there are concerned.

    TIMEOUT is followed when time has passed `within` after the first event, unless a KILL has forbidden the run.
    """

    FORWARD = "forward"
    LOOP = "loop"
    EPSILON = "epsilon"
    KILL = "kill"
    TIMEOUT = "timeout"


TAKING: Final = (Kind.FORWARD, Kind.LOOP)
"""Arcs that take an event."""


class Stay(enum.Enum):
    """At which events that its state sees a run stays there.

    The choices: events that fail the state's theta; events that no FORWARD or LOOP arc out of it takes; events of other
    partitions or of none; no event; or every event, so that a run also stays when it takes an arc. The `stay` of the
    start has no meaning, because events begin the runs there. With FAILING, a run that an event affects ends only with
    its epoch: it still sees the other events of that time.
    """

    FAILING = "failing"
    UNTAKEN = "untaken"
    FOREIGN = "foreign"
    NONE = "none"
    ALL = "all"


class TimeModel(enum.Enum):
    """EPOCHS: events are intervals. All that end at one time form an epoch, within which their order has no meaning. A
    run sees only events that begin after all of its events. ARRIVAL: events are points in the order of their arrival,
    which also orders events of equal time. LIFETIMES: events are points in the order of their times, whenever they
    arrive, and live for `within`; a result lives while all its events do, and is retracted if one of them is. WINDOWS:
    as ARRIVAL; a match has all events of its partition between two, and `windows` says which, instead of states."""

    EPOCHS = "epochs"
    ARRIVAL = "arrival"
    LIFETIMES = "lifetimes"
    WINDOWS = "windows"


class Report(enum.Enum):
    """Which matches are reported: each; one for all with equal values that one event completes; in a partition only
    matches that begin after the previously reported one has ended; or all that one event completes as one compressed
    graph.

    Matches that become known together, as when time completes them, are ordered by the arrival of their first event, of
    their last one, of the others in order, and then by which gives its events to earlier operands.
    """

    EACH = "each"
    COMPLETIONS = "completions"
    NONOVERLAP = "nonoverlap"
    COMPRESSED = "compressed"


@dataclass(frozen=True, slots=True)
class Carry:
    """Slot: the content of slot `slot` of the arc's source; null if nothing has filled it yet."""

    slot: int


@dataclass(frozen=True, slots=True)
class BoundRow:
    """Slot: the row that the run had taken last before this arc."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """Slot: the row of this arc's event."""


@dataclass(frozen=True, slots=True)
class EventTime:
    """Slot: the time of this arc's event."""


@dataclass(frozen=True, slots=True)
class Computed:
    """Slot: a value computed from the event and the source's registers before the arc. `noted`: the text does not know
    the slot, so that a loop which changes no other one ignores its events."""

    term: Term
    noted: bool = False


@dataclass(frozen=True, slots=True)
class Accumulated:
    """Slot: an aggregate over the events of the arc's operand, including this one; with `first`, over this one alone.

    Nulls are skipped: without any value, count is 0 and the others are null. `len`, whose `position` is -1, counts the
    events. sum adds from left to right, from the first value, without bounds; avg is that sum divided by that count.
    Both are null when read if they exceed 64 bits or the finite floats (semantics 2.3).
    """

    function: Accumulation
    position: int
    type: ValueType
    first: bool = False


SlotSource: TypeAlias = Carry | BoundRow | EventRow | EventTime | Computed | Accumulated


@dataclass(frozen=True, slots=True)
class State:
    """A state of runs. It sees only the events of `stream`; "": those of all the automaton's sources. With Stay.FAILING
    an event *affects* a run if it does not overlap the run's events and `theta` holds. `name`: that in the text, if it
    names its states."""

    stream: str
    theta: Form = ALWAYS
    stay: Stay = Stay.FAILING
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A time condition: the event comes an allowed distance after the one in `slot`.

    If `slot` is below zero, the earlier event is that many positions before it in its partition; this is only used if
    the run took all events in between. `said`: for people. `number`: which of the pattern's conditions it is, because
    several arcs may test one. `since`: the operand of the earlier event; below zero: the first event of the match,
    whatever its operand.
    """

    slot: int
    allowed: Distances
    said: Wording = field(default=UNSAID, compare=False)
    number: int = 0
    since: int = -1

    @property
    def text(self) -> str:
        return self.said.plain()


@dataclass(frozen=True, slots=True)
class Arc:
    """From `source` to `target` (indexes of states) for an event that satisfies `guard`, `joins`, `rest` and `elapsed`.

    If a language separates static conditions, `guard` reads only the event, so that an index can evaluate it; `joins`
    are equalities with registers, for a hash; and `rest` has the other conditions. CEL has all conditions in `guard`.
    `stream`: the stream of its events; "": the events that its state sees. `operand`: the automaton's operand that gets
    the event, for a KILL arc the index in `forbidden`; -1 if it has no name. `update` fills the target's slots. An arc
    to the final state has `output`, the values of the result, which read registers and event as the guard does.
    `conjuncts`: its conditions as they were written, for people. `name` is that by which an update deletes it; it
    exists for the events of the times [`begin`, `end`).
    """

    source: int
    target: int
    guard: Form
    update: tuple[SlotSource, ...] = ()
    output: tuple[Term, ...] = ()
    kind: Kind = Kind.FORWARD
    stream: str = ""
    operand: int = -1
    joins: tuple[Join, ...] = ()
    rest: Form = ALWAYS
    elapsed: tuple[Elapsed, ...] = ()
    peeks: bool = False
    conjuncts: tuple[Term, ...] = field(default=(), compare=False)
    name: str = ""
    begin: int = -FOREVER
    end: int = FOREVER

    def with_terms(self, guard: Form, update: tuple[SlotSource, ...], output: tuple[Term, ...]) -> Arc:
        """The same arc with these. Registration makes one for each arc, and `dataclasses.replace` would double that."""
        return Arc(
            self.source,
            self.target,
            guard,
            update,
            output,
            self.kind,
            self.stream,
            self.operand,
            self.joins,
            self.rest,
            self.elapsed,
            self.peeks,
            self.conjuncts,
            self.name,
            self.begin,
            self.end,
        )


@dataclass(frozen=True, slots=True)
class Automaton:
    """States by index; 0 is the start, which holds no runs: every event begins one there. The final state has the index
    `len(states)`. `schema`: that of the results.

    `sources`: the streams with their partitions, if a run takes events of one partition in the order of arrival over
    all streams; () if each state names its stream, which is not partitioned. `operands`: the names of the events of a
    match, for people; `forbidden`: the names of events that KILL arcs forbid. `within`: the greatest time between the
    first and the last event of a match, in microseconds; later a run takes no event. `distinct`: runs that give the
    same events to the same operands are one match. `machines`: the machines of a composite pattern, for drawing and
    dividing it. `initial`: what the slots of the start hold. `windows`: with TimeModel.WINDOWS, which sequences of
    events are matches; there are no states and arcs then.
    """

    states: tuple[State, ...]
    arcs: tuple[Arc, ...]
    schema: Schema
    sources: tuple[PartitionedStream, ...] = ()
    operands: tuple[str, ...] = ()
    within: int | None = None
    time: TimeModel = TimeModel.EPOCHS
    report: Report = Report.EACH
    distinct: bool = False
    forbidden: tuple[str, ...] = ()
    machines: MachineTree | None = field(default=None, compare=False)
    initial: Row = ()
    windows: WindowAutomaton | None = None

    @property
    def final(self) -> int:
        return len(self.states)

    def forward(self, source: int) -> Arc:
        """The first FORWARD arc of a state."""
        return next(a for a in self.arcs if a.source == source and a.kind is Kind.FORWARD)

    def loop(self, source: int) -> Arc | None:
        """The arc on which a state takes further events."""
        return next((a for a in self.arcs if a.source == source and a.kind is Kind.LOOP), None)

    def source_of(self, arc: Arc) -> PartitionedStream:
        """The source of the events that an arc takes or forbids; for an arc without a stream the only source."""
        return next(source for source in self.sources if source.stream == arc.stream or not arc.stream)

    @property
    def partition(self) -> tuple[str, ...]:
        """The names of the attributes that partition the sources."""
        return tuple(source.schema.names[position] for source in self.sources[:1] for position in source.key)

    @property
    def output(self) -> tuple[Term, ...]:
        """The values of a result."""
        return next(arc.output for arc in self.arcs if arc.target == self.final)

    def streams(self) -> list[str]:
        """The streams that the automaton reads, each once."""
        named = [state.stream for state in self.states if state.stream]
        return list(dict.fromkeys([*(source.stream for source in self.sources), *named]))


def describe_arc(arc: Arc) -> str:
    """The conditions and computed values of an arc, for people; empty if it takes every event unchanged."""
    parts = [] if arc.guard == ALWAYS else [describe_form(arc.guard)]
    parts += [f"keep {describe(source.term)}" for source in arc.update if isinstance(source, Computed)]
    return "; ".join(parts)
