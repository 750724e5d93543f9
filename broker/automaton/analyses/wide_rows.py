"""Several streams as one, whose events are *wide rows*: the values of the key, which all streams have, a mark for each
stream, then the attributes of each stream, null in events of the others.

A null satisfies no comparison, so that an event of one stream satisfies no condition of another one. Where a condition
compares nothing of its stream, it asks for the stream's mark. The automaton means the same afterwards.

Here: that rewriting, and where a wide row has what. Not here: a group's template (arrival_template), making wide rows
(broker.engine.executors.groups.wide_rows).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra import terms
from ...algebra.guard import Join
from ...algebra.normal_form import Clause, Form
from ...algebra.partitioned_stream import PartitionedStream
from ...algebra.terms import Attribute, Comparison, Constant, Register, Side, Term, walk
from ...algebra.timed_stream import is_timed
from ...events import schema
from ..automaton import Arc, Automaton, Kind
from .event_constants import beginning
from .keys import ASKING, KeyPart, key_parts, places
from .template import NoTemplate, WideRow
from .whole_rows import mapped

UNMARKED: Final = Constant(False, "bool")  # which no mark is: so its comparison is no constant of a key
TIMES: Final = 2  # values that a row of a timed stream has at most behind its attributes


def over_wide_rows(automaton: Automaton) -> tuple[Automaton, WideRow]:
    """A line of single events whose registers are whole rows, over one stream of wide rows. Raises NoTemplate.

    O(its size). Its output reads the row of an event that completes a match as the event's own stream has it.
    """
    sources = sorted(automaton.sources, key=lambda source: source.stream)
    keys = _keys(automaton, key_parts(automaton))
    names = tuple(source.stream for source in sources)
    widths = tuple(len(each.schema.attributes) + (TIMES if is_timed(each.stream) else 0) for each in sources)
    row = WideRow(names, tuple(keys[name] for name in names), widths)
    taking = [arc.stream for arc in automaton.arcs if arc.kind is Kind.FORWARD]
    late = any(arc.kind is Kind.TIMEOUT for arc in automaton.arcs)
    steps = [names.index(stream) for stream in taking]
    arcs = tuple(_rewritten(arc, row, steps, late) for arc in automaton.arcs)
    key = tuple(row.column(0, position) for position in sources[0].key)
    if any(tuple(row.column(at, one) for one in each.key) != key for at, each in enumerate(sources)):
        raise NoTemplate("its streams have the key in attributes that differ")
    source = PartitionedStream(" and ".join(names), _schema(row, sources), key)
    return replace(automaton, arcs=arcs, sources=(source,)), row


def _keys(automaton: Automaton, parts: tuple[KeyPart, ...]) -> dict[str, tuple[int, ...]]:
    """By stream where its events have the parts of the key that all events have."""
    found: dict[str, tuple[int, ...]] = {source.stream: () for source in automaton.sources}
    asking = [arc for arc in automaton.arcs if arc.kind in ASKING]
    for number in range(len(parts)):
        own = {source.stream: set(source.key[number : number + 1]) for source in automaton.sources}
        for arc in asking:
            own[arc.stream].add(places(automaton, parts, arc).get(number, -1))
        at = {stream: next(iter(positions)) for stream, positions in own.items() if len(positions) == 1}
        if len(at) < len(found) or any(position < 0 or position in found[stream] for stream, position in at.items()):
            continue  # then it is no part of the key that is in one attribute
        types = {source.schema.attributes[at[source.stream]].type for source in automaton.sources}
        if len(types) > 1:
            raise NoTemplate("its streams have the key in attributes of different types")
        found = {stream: (*known, at[stream]) for stream, known in found.items()}
    return found


def _rewritten(arc: Arc, row: WideRow, steps: list[int], late: bool) -> Arc:
    """`steps`: the stream of each step."""
    stream = row.streams.index(arc.stream) if arc.stream else -1

    def wide(leaf: Term) -> Term:
        match leaf:
            case Attribute(Side.EVENT, position):
                column = row.column(stream, position)
                return Attribute(Side.EVENT, column, leaf.type, leaf.name, leaf.nullable or column >= row.begin(0))
            case Register(slot, position):
                return replace(leaf, position=row.column(steps[slot], position))
            case _:
                return leaf

    def reported(leaf: Term) -> Term:
        return leaf if isinstance(leaf, Register) and leaf.slot == len(steps) - 1 and not late else wide(leaf)

    output = tuple(terms.replace(term, reported) for term in arc.output)
    if arc.kind not in ASKING:
        return replace(arc, output=output)
    guard, rest = mapped(arc.guard, wide), mapped(arc.rest, wide)
    if not all(_says_stream(clause, row) for clause in rest):
        mark = Attribute(Side.EVENT, row.mark(stream), "bool", row.streams[stream], True)
        own = Comparison("!=", mark, UNMARKED)
        guard = tuple(clause if _says_stream(clause, row) else (*clause, own) for clause in guard)
    joins = tuple(
        Join(row.column(stream, join.position), replace(join.register, position=_column(join.register, row, steps)))
        for join in arc.joins
    )
    return replace(arc, guard=guard, rest=rest, joins=joins, output=output, stream="")


def _column(register: Register, row: WideRow, steps: list[int]) -> int:
    return row.column(steps[register.slot], register.position)


def _says_stream(clause: Clause, row: WideRow) -> bool:
    """Whether only events of one stream satisfy it, as it compares an attribute that only they have."""
    compared = [side for atom in clause for side in (atom.left, atom.right)]
    compared += [begun[0] for begun in map(beginning, clause) if begun is not None]
    return any(
        isinstance(each, Attribute) and each.side is Side.EVENT and each.position >= row.begin(0) for each in compared
    )


def asked_of(row: WideRow, stream: int, form: Form) -> Form:
    """The alternatives that events of one of its streams may satisfy, as that stream has its attributes."""

    def own(leaf: Term) -> Term:
        if isinstance(leaf, Attribute) and leaf.side is Side.EVENT:
            return replace(leaf, position=row.position(stream, leaf.position))
        return leaf

    has = [clause for clause in form if all(row.position(stream, at) >= 0 for at in _positions(clause))]
    return mapped(tuple(has), own)


def _positions(clause: Clause) -> list[int]:
    return [part.position for atom in clause for part in walk(atom) if isinstance(part, Attribute)]


def _schema(row: WideRow, sources: list[PartitionedStream]) -> schema.Schema:
    """The schema of wide rows. What is a part of the key has the name that the first stream gives it."""
    first = sources[0].schema.attributes
    found = [first[position] for position in row.keys[0]]
    taken = {one.name for one in found}
    kinds: list[schema.ValueType] = ["bool"] * len(row.streams)
    for source, width in zip(sources, row.widths):
        own = [one.type for one in source.schema.attributes]
        kinds += [*own, *(["int"] * (width - len(own)))]  # type: ignore[list-item]
    for number, kind in enumerate(kinds):
        name = f"column_{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(schema.Attribute(name, kind, True))
    return schema.Schema(tuple(found))
