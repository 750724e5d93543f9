"""Runs events again for one subscription, on the reference executor, whose runs can be looked at.

Here: the engine that does it, with the subscription and those that publish what it reads. Not here: what is read from
the runs (matched, unmatched).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, final

from ...events.errors import Unsupported
from ...events.event import Event
from ...events.stream import StreamDefinition
from ...events.validation import row_from_mapping
from ..executors.matches import ids
from ..executors.reference.executor import Reference
from ..executors.reference.interpreter import Interpreter
from ..executors.reference.run import Notes, Path
from ..match import Match
from ..options import Options
from ..planner import EXECUTORS, IN_ORDER, MERGED

if TYPE_CHECKING:
    from ..engine import Engine

REFERENCE: Final = "reference"
OTHERS: Final = tuple([plan.executor for plan in (*EXECUTORS, MERGED) if plan.executor != REFERENCE])


@final
class Rerun:
    """`interpreters`: those of the subscription's automata, not those of streams that it reads. `positions`: the
    declared keys of streams."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        subscriber = engine.catalog.subscriptions[name]
        if any(automaton.time not in IN_ORDER for automaton in subscriber.automata()):
            language = subscriber.form.language
            raise Unsupported(f"subscription {name!r}: reasons of the language {language!r} are not supported yet")
        self.engine = type(engine)(Options(executors_off=OTHERS))
        self.positions: dict[str, int] = {}
        for stream in engine.catalog.streams.values():
            self.engine.declare(StreamDefinition(stream.name, stream.schema, stream.key))
            if stream.key is not None:
                self.positions[stream.name] = stream.schema.position(stream.key)
        for needed in needed_by(engine, name):
            own = engine.subscriptions[needed]
            self.engine.subscribe(needed, own.language, own.query, True, own.report)
        self.interpreters: list[Interpreter] = []
        for registration in self.engine.program.machines.registrations.values():
            machine = registration.matcher.machine
            serves = [each.name for each in registration.member.target.subscribers()]
            if isinstance(machine, Reference) and name in serves:
                machine.interpreter.notes = Notes()
                self.interpreters.append(machine.interpreter)

    def play(self, events: Sequence[Event]) -> Iterator[list[Match]]:
        """The matches of the subscription after each event, and at the end of the events."""
        for event in events:
            row = event.data
            if isinstance(row, dict):
                row = row_from_mapping(self.engine.streams[event.stream], row)
            numbers = None if event.id is None else [event.id]
            found = self.engine.publish(event.stream, [event.time], [row], numbers, [event.start])
            yield [match for match in found.expanded() if match.subscription == self.name]
        yield [match for match in self.engine.finish().expanded() if match.subscription == self.name]


def ids_of(path: Path) -> list[int]:
    """The ids of the events of a run, in the order in which it took them; of a derived event those behind it."""
    return [number for _, event in path for number in ids(event.item)]


def needed_by(engine: Engine, name: str) -> list[str]:
    """The subscription and those that publish what it reads, directly or through others, publishers first."""
    wanted, waiting = {name}, [name]
    by_name = engine.catalog.subscriptions
    while waiting:
        reads = {stream for stream, _ in by_name[waiting.pop()].form.sources}
        more = [other for other, each in by_name.items() if each.form.publish in reads and other not in wanted]
        wanted.update(more)
        waiting += more
    ordered: list[str] = []
    rest = [other for other in by_name if other in wanted]
    while rest:
        for other in rest:
            reads = {stream for stream, _ in by_name[other].form.sources}
            if not any(by_name[publisher].form.publish in reads for publisher in rest if publisher != other):
                ordered.append(other)
                rest.remove(other)
                break
    return ordered
