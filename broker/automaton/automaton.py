"""The register automaton that every language lowers to (semantics 6.1): states, arcs, registers, and what fills them.

Here: immutable values, comparable and hashable by meaning, so that equal states of different subscriptions are found by
hashing. Not here: how they are built (constructions), what can be said of them (analyses), how they run (engine).

A run is in one state. It remembers *registers*: the row of the event that it took last, and numbered slots, each with
an earlier row, a value or a time. An arc says what fills each slot of its target. An event does this to a run: it
leaves the run where it is, if the state's `stay` says so; and the run takes every arc whose guard holds. A run for
which neither is so ends.
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
from .distances import Distances
from .machines.tree import MachineTree


class Kind(enum.Enum):
    """What an arc is for.

    FORWARD takes an event and leads on; LOOP takes one and stays in its state. Where a state stays by FAILING, an event
    that affects a run takes no arc unless it takes the loop, if there is one.

    EPSILON takes none. One that does not peek is followed whenever a run enters its source, if its guard, which reads
    registers alone, holds then; so is one out of its target. The run that was there stays a run of its own. One that
    peeks is followed, if its guard holds, with an event that decides: where the source takes that event or lets it
    pass, by a copy of the run that takes each arc of the target that the event satisfies, and does not stay there; else
    by the run itself, which is in the target before the event comes, and takes or lets pass as the target does.

    KILL forbids, and leads nowhere: no event of the match's partition may satisfy its guard where it stands. The guard
    reads the registers of the whole match, those that the run has before the arc to the final state. Of most states it
    stands in order between the last event that the run had when it came there and the one with which it left. Of the
    start it is by time, from the first event of the match, exclusive, back to `within` before the last, exclusive; of a
    state left on a TIMEOUT, from the last event, exclusive, to `within` after the first, inclusive.

    TIMEOUT is followed once time is past `within` after the first event, by the run, if nothing has forbidden it.
    """

    FORWARD = "forward"
    LOOP = "loop"
    EPSILON = "epsilon"
    KILL = "kill"
    TIMEOUT = "timeout"


TAKING: Final = (Kind.FORWARD, Kind.LOOP)
"""Arcs that take an event."""


class Stay(enum.Enum):
    """Which events that its state sees leave a run there: those that fail the state's theta; those that no FORWARD or
    LOOP arc out of it takes; those of other partitions, or of none; none; or all, so that a run stays also where an arc
    is taken. The start has runs that an event begins: of its `stay` nothing is asked. With FAILING a run that an event
    affects ends, but only with its epoch: it sees the other events of that time."""

    FAILING = "failing"
    UNTAKEN = "untaken"
    FOREIGN = "foreign"
    NONE = "none"
    ALL = "all"


class TimeModel(enum.Enum):
    """EPOCHS: events are intervals; all that end at one time are an epoch, in which their order says nothing. For a run
    there are only events that begin after all that it has. ARRIVAL: events are points in the order in which they came,
    which also decides between equal times. LIFETIMES: events are points in the order of their times, whenever they
    come, and live for `within`; a result lives while all its events do, and is withdrawn where one is."""

    EPOCHS = "epochs"
    ARRIVAL = "arrival"
    LIFETIMES = "lifetimes"


class Report(enum.Enum):
    """Each match; one for all with equal values that one event completes; in a partition only what begins after the
    match reported before has ended; or all that one event completes as one compressed graph.

    Of matches that are known at once, which time may complete, the one comes before whose first event came earlier,
    then the last one, then the others in order; then the one that gives its events to earlier operands."""

    EACH = "each"
    COMPLETIONS = "completions"
    NONOVERLAP = "nonoverlap"
    COMPRESSED = "compressed"


@dataclass(frozen=True, slots=True)
class Carry:
    """Slot: what was in slot `slot` of the arc's source; null where nothing has filled it yet."""

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
    """Slot: a value computed from the event and the source's registers as they were."""

    term: Term


@dataclass(frozen=True, slots=True)
class Accumulated:
    """Slot: an aggregate over the events of the arc's operand, this one included; with `first`, over this one alone.

    Nulls are left out: over no value at all count is 0 and the others are null. `len`, whose `position` is -1, counts
    the events. sum adds from left to right, beginning with the first value, without bounds; avg is that sum divided by
    that count. Both are null where what is read leaves 64 bits or the finite floats (semantics 2.3).
    """

    function: Accumulation
    position: int
    type: ValueType
    first: bool = False


SlotSource: TypeAlias = Carry | BoundRow | EventRow | EventTime | Computed | Accumulated


@dataclass(frozen=True, slots=True)
class State:
    """Where a run waits. It sees the events of `stream`, "": of all the automaton's sources; others do not exist for
    it. With Stay.FAILING an event *affects* the run if it does not overlap what the run has taken and `theta` holds."""

    stream: str
    theta: Form = ALWAYS
    stay: Stay = Stay.FAILING


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The event is an allowed distance of time after the one in `slot`, or, where `slot` is below zero, after the one
    that many positions before it in its partition: the arc may ask that only where the run took all events in between,
    so that it took this one as many events ago.

    `text` is for people; `number` says which of the pattern's conditions it is, since several arcs may ask one; `since`
    is the operand of the earlier event, below zero where that is the first one of the match, whatever its operand.
    """

    slot: int
    allowed: Distances
    text: str = ""
    number: int = 0
    since: int = -1


@dataclass(frozen=True, slots=True)
class Arc:
    """`source` to `target` (indexes of states) for an event that satisfies `guard`, `joins`, `rest` and `elapsed`.

    Where a language sets static conditions apart, `guard` reads the event alone, which an index answers, `joins` are
    equalities with registers, which a hash answers, and `rest` is what is left; CEL's conditions are all in `guard`.
    `stream`: whose events it takes, "": those that its state sees. `operand`: which of the automaton's operands has
    the event, of a KILL arc which of `forbidden`, -1 if none is named. `update` fills the target's slots. An arc to the
    final state has `output`, the result's values, which read the registers and the event as the guard does.
    `conjuncts`: what it asks of the event and the registers as it was written, for people. `name` is that by which an
    update deletes it; it exists for the events of the times [`begin`, `end`).
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


@dataclass(frozen=True, slots=True)
class Automaton:
    """States by index; 0 is the start, which holds no runs: every event begins one there. The final state has the index
    `len(states)`. `schema` is that of the results.

    `sources`: the streams with their partitions, where arrival in their merge is what counts and a run takes events of
    one partition only; () where each state names its stream and nothing parts it. `operands`: the names by which people
    know the events of a match; `forbidden`: those of events that KILL arcs forbid. `within`: how far the last event of
    a match may be from its first one, in microseconds; a run for which it is past takes nothing any more. `distinct`:
    two runs that give the same events to the same operands are one match. `machines`: what a composite pattern is made
    of, for those who draw it or divide it. `initial`: what the slots of the start hold.
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

    @property
    def final(self) -> int:
        return len(self.states)

    def forward(self, source: int) -> Arc:
        """The first arc that leads on from a state."""
        return next(a for a in self.arcs if a.source == source and a.kind is Kind.FORWARD)

    def loop(self, source: int) -> Arc | None:
        """The arc on which a state takes further events."""
        return next((a for a in self.arcs if a.source == source and a.kind is Kind.LOOP), None)

    def source_of(self, arc: Arc) -> PartitionedStream:
        """The source of the events that an arc takes or forbids; of one that names no stream the only one."""
        return next(source for source in self.sources if source.stream == arc.stream or not arc.stream)

    @property
    def partition(self) -> tuple[str, ...]:
        """The names of the attributes that part the sources."""
        return tuple(source.schema.names[position] for source in self.sources[:1] for position in source.key)

    @property
    def output(self) -> tuple[Term, ...]:
        """A result's values."""
        return next(arc.output for arc in self.arcs if arc.target == self.final)

    def streams(self) -> list[str]:
        """The streams that it reads, each once."""
        named = [state.stream for state in self.states if state.stream]
        return list(dict.fromkeys([*(source.stream for source in self.sources), *named]))


def describe_arc(arc: Arc) -> str:
    """What an arc asks and what it newly computes, for people; nothing where it takes every event as it is."""
    parts = [] if arc.guard == ALWAYS else [describe_form(arc.guard)]
    parts += [f"keep {describe(source.term)}" for source in arc.update if isinstance(source, Computed)]
    return "; ".join(parts)
