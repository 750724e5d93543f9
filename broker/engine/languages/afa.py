"""AFA's row of the table: register automata, whose arcs may change while they run (executors/speculative)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, final

from ...algebra.afa.lowering import lower, lower_arcs
from ...automaton.arc_pieces import ArcPieces, pieces_without
from ...automaton.arc_updates import ArcUpdate, ChangingArcs
from ...automaton.automaton import Arc, Automaton
from ...automaton.constructions.registers import arcs_of, automaton_of_registers
from ...events.errors import DefinitionError, QueryError
from ...events.instant import FOREVER
from ...events.nearest import suggestion
from ...events.schema import Schema
from ...language.afa import parse, parse_arc, print_query
from ...language.afa.printer import print_arc
from ...language.afa.syntax import AfaQuery, ArcExpression
from ..subscribing.subscriber import CompiledQuery
from .language import EXPRESSION_LITERALS, CompileRequest, CopyingQuery, Language, Sources
from .machines import machine_form

INITIAL: Final = {"string": "''", "int": "0", "float": "0", "bool": "FALSE"}


def _reads(query: AfaQuery) -> list[str]:
    return [stream.name for stream in query.streams]


@final
class _RegisterArcs(ChangingArcs):
    """The arcs of a subscription. `typed`: its first text (algebra.afa); `names`: those of all arcs that there were."""

    def __init__(self, typed: Any, automaton: Automaton, names: Mapping[str, None]) -> None:
        self.typed = typed
        self.names = names
        self._automaton = automaton

    @property
    def automaton(self) -> Automaton:
        return self._automaton

    def updated(self, update: ArcUpdate, settled: int = -FOREVER) -> ChangingArcs:
        self._check_deleted(update, self.names)
        names = dict(self.names)
        arcs: list[Arc] = []
        for arc in self._automaton.arcs:
            if arc.end <= settled:
                continue
            if arc.name not in update.delete or arc.end <= update.begin or arc.begin >= update.end:
                arcs.append(arc)
            else:
                arcs += pieces_without(arc, update.begin, update.end)
        for made in self._inserted(update, names):
            arcs += made
        return _RegisterArcs(self.typed, replace(self._automaton, arcs=tuple(arcs)), names)

    def after(self, updates: Sequence[ArcUpdate]) -> ChangingArcs:
        names, left = dict(self.names), ArcPieces(self._automaton.arcs)
        for update in updates:
            self._check_deleted(update, names)
            for name in update.delete:
                left.delete(name, update.begin, update.end)
            for made in self._inserted(update, names):
                for arc in made:
                    left.insert(arc)
        return _RegisterArcs(self.typed, replace(self._automaton, arcs=left.arcs()), names)

    def _check_deleted(self, update: ArcUpdate, names: Mapping[str, None]) -> None:
        for name in update.delete:
            if name not in names:
                found = f"found {name!r}{suggestion(name, list(names))}"
                raise DefinitionError(f"expected the name of an arc to delete, {found}")

    def _inserted(self, update: ArcUpdate, names: dict[str, None]) -> Iterator[tuple[Arc, ...]]:
        """The arcs for each text of an update; their names are added."""
        left = self.typed.left()
        for text in update.insert:
            for lowered in lower_arcs(self.typed, parse_arc(text), text):
                self._check_left(self.typed.states[lowered.source], lowered.source)
                if lowered.name:
                    names[lowered.name] = None
                yield tuple(arcs_of(self.typed, replace(lowered, begin=update.begin, end=update.end), left))

    def difference(
        self, text: str, updates: Sequence[ArcUpdate], wanted: object, begin: int
    ) -> tuple[list[str], list[str]]:
        query = parse(text)
        assert isinstance(wanted, AfaQuery)
        if replace(query, arcs=()) != replace(wanted, arcs=()):
            raise DefinitionError("the texts differ in something else than their arcs")
        known = {state.name for arc in query.arcs for state in (arc.source, arc.target)}
        states = [state.name for arc in wanted.arcs for state in (arc.source, arc.target)]
        new = [state for state in states if state not in known]
        if new:
            raise DefinitionError(f"the text it began with has no state {new[0]!r}{suggestion(new[0], known)}")
        now = _arcs_at(query, updates, begin)
        gone = [arc for arc in now if arc not in wanted.arcs]
        nameless = [arc for arc in gone if arc.name is None]
        if nameless:
            raise DefinitionError(f"the arc '{print_arc(nameless[0])}' has no name by which it is deleted")
        deleted = list(dict.fromkeys([arc.name for arc in gone if arc.name is not None]))
        kept = [arc for arc in now if arc.name is None or arc.name not in deleted]
        return [print_arc(arc) for arc in wanted.arcs if arc not in kept], deleted

    def _check_left(self, name: str, state: int) -> None:
        """Refuse an arc out of a final state from which no arc led on: its runs were reported and are not kept."""
        if state in self.typed.finals and state not in self.typed.left():
            raise DefinitionError(
                f"expected an arc out of a state whose runs go on, found one out of the final state {name!r}, where "
                f"runs end: a text with '{name} -> {name} WHEN FALSE' keeps them"
            )


def _arcs_at(query: AfaQuery, updates: Sequence[ArcUpdate], begin: int) -> list[ArcExpression]:
    """The arcs of a text after its updates, for the events from `begin` on. Raises DefinitionError if later events have
    others."""
    arcs = list(query.arcs)
    for update in updates:
        if begin < update.begin or begin < update.end < FOREVER:
            raise DefinitionError("it has an update that begins or ends later")
        if update.end == FOREVER:
            arcs = [arc for arc in arcs if arc.name not in update.delete]
            arcs += [parse_arc(text) for text in update.insert]
    return arcs


def _compile(request: CompileRequest) -> CompiledQuery:
    typed = lower(request.syntax, request.text, request.surroundings.schema_of, request.surroundings.known)
    arcs = partial(_arcs_of, request.sources)
    return machine_form(request, automaton_of_registers(typed), typed.publish, changing=arcs)


def _arcs_of(sources: Sources, text: str, automaton: Automaton) -> ChangingArcs:
    """The arcs of one text of a form, which is parsed again: few subscriptions change theirs."""
    typed = lower(parse(text), text, dict(sources).get, list)
    names = dict.fromkeys([arc.name for arc in typed.arcs if arc.name])
    return _RegisterArcs(typed, automaton, names)


def _copying(streams: Sequence[tuple[str, Schema]]) -> CopyingQuery:
    """An arc for each stream, which copies an event into registers."""
    prefix = "r"
    while any(name.startswith(prefix) for _, schema in streams for name in schema.names):
        prefix += "r"
    registers, arcs, columns = [f"{prefix}s INT = 0"], [], []
    for at, (stream, schema) in enumerate(streams):
        sets, own = [f"{prefix}s = {at}"], []
        for attribute in schema.attributes:
            readable = _readable(attribute.name)
            own.append(len(registers) if readable else -1)
            if readable:
                register = f"{prefix}{len(registers)}"
                sets.append(f"{register} = {attribute.name}")
                registers.append(f"{register} {attribute.type.upper()} = {INITIAL[attribute.type]}")
        arcs.append(f"before -> seen ON {stream} SET {', '.join(sets)}")
        columns.append(tuple(own))
    names = ", ".join(stream for stream, _ in streams)
    head = f"FROM {names} REGISTER {', '.join(registers)} START before FINAL seen\n"
    return CopyingQuery(head + "\n".join(arcs), tuple(columns))


def _readable(name: str) -> bool:
    """Whether a query can read an attribute of this name."""
    try:
        parse_arc(f"before -> seen WHEN {name} IS NULL")
    except QueryError:
        return False
    return True


AFA: Final = Language(
    name="afa",
    parse=parse,
    print=print_query,
    reads=_reads,
    compile=_compile,
    literals={**EXPRESSION_LITERALS, AfaQuery: ("within", "within_at")},
    durations=frozenset((AfaQuery,)),
    copying=_copying,
)
