"""The template of an automaton over events in order of arrival: single operands, in one order, or of one stream in
several.

Here: that. Not here: lines in which an operand repeats (kleene_template), automata over epochs (epoch_template), what a
template is (template).
"""

from __future__ import annotations

from typing import Final

from ...algebra.terms import Attribute, Comparison, Constant, Side
from ..automaton import Arc, Automaton, Elapsed, Kind, Report
from .coordinates import exact
from .event_constants import OwnText, own_constants, shared_beginning, shared_constants
from .keys import key_parts, within_key
from .kleene_template import repeating_grouping
from .line import line_of
from .orders import orders_of
from .other_keys import own_texts, own_texts_alone
from .selection_template import selection_grouping
from .template import (
    Grouping,
    GroupTemplate,
    NoTemplate,
    TemplateClause,
    TemplateKill,
    TemplateStep,
    WideRow,
    alternatives,
    beyond,
    by_form,
    clause_of,
    keyed_line,
    of_rows,
    uniform_key,
)
from .whole_rows import with_whole_rows
from .wide_rows import over_wide_rows

OF_ALL: Final = "it counts matches of all events, because no constant says which it is about"


def arrival_grouping(automaton: Automaton) -> Grouping:
    """Raises NoTemplate. O(size of the automaton squared)."""
    if automaton.report not in (Report.EACH, Report.COMPLETIONS):
        raise NoTemplate("it does not report each match")
    counted = automaton.report is Report.COMPLETIONS
    several = len(automaton.sources) > 1
    line = line_of(automaton)
    if not all(_within(automaton, condition) for arc in automaton.arcs for condition in arc.elapsed):
        raise NoTemplate("it has conditions on times other than its window")
    if any(link.take is not None for link in line):
        if counted:
            raise NoTemplate("an operand repeats, and it reports completions only")
        if several:
            raise NoTemplate("an operand repeats, and it reads several streams")
        return _repeating(automaton)
    if counted and _asks_for_numbers(automaton):  # found soon, as there may be a new shape for each subscription
        raise NoTemplate(OF_ALL)
    orders: tuple[tuple[int, ...], ...] = ()
    wide: WideRow | None = None
    if line:
        automaton = with_whole_rows(automaton)
        if several:
            automaton, wide = over_wide_rows(automaton)
        parts = key_parts(automaton)
        inner = within_key(automaton, parts)
        begins = [link.begin for link in line_of(inner)]
        output = automaton.output
    elif several:
        raise NoTemplate("it is not a line of operands, and reads several streams")
    else:
        inner = automaton
        begins, orders, parts, output = orders_of(automaton)
    kills = [arc for arc in inner.arcs if arc.kind is Kind.KILL]
    together = uniform_key(inner, parts, [*begins, *kills])
    asking = [arc.guard for arc in (*begins, *kills)]
    known = shared_constants(asking)
    # What one event begins with, all do that have the key's value with it: in each order, or it says nothing of others.
    common = together if all(len(order) == len(begins) for order in orders) else ()
    begun = () if known else shared_beginning(asking, common)
    found_by = (begun,) if begun else () if known else own_constants(asking)
    each_alone = len(orders) > 0 and all(len(order) == 1 for order in orders)
    late = any(arc.kind is Kind.TIMEOUT for arc in automaton.arcs)
    asked = {id(arc): alternatives(arc.guard, arc.rest, len(begins)) for arc in (*begins, *kills)}
    own: tuple[OwnText | None, ...] = ()
    if each_alone and not (known or begun):
        own = own_texts_alone([asked[id(arc)] for arc in begins])
    elif not (known or counted or together):
        own = own_texts(inner, begins, kills, [asked[id(arc)] for arc in (*begins, *kills)], late)
    wakes = len(begins) > 1 and not (known or found_by or counted or orders or own)
    if wakes:
        found_by = own_constants([begins[0].guard])
        wakes = len(found_by) > 0
    texts = len(known) + len(found_by) + len(own) > 0 or each_alone
    slots = (0,) if orders else tuple(range(len(begins)))
    values: list[float] = []

    def clauses(arc: Arc, known: dict[Attribute, Constant]) -> tuple[TemplateClause, ...]:
        left = [(tuple(atom for atom in one if atom not in begun), among) for one, among in asked[id(arc)]]
        found = sorted((clause_of(one, known, of_rows, texts, among) for one, among in left), key=by_form)
        values.extend(value for _, valued in found for value in valued)
        return tuple(clause for clause, _ in found)

    keys = [{} if each is None else dict([each]) for each in own] or [known for _ in asking]
    steps = tuple(TemplateStep(inner.states[arc.source].stay, clauses(arc, key)) for arc, key in zip(begins, keys))
    places_of = {arc.source: number for number, arc in enumerate(begins)}
    forbidden = tuple(
        TemplateKill(places_of.get(arc.source, len(begins)), clauses(arc, key))
        for arc, key in zip(kills, keys[len(begins) :])
    )
    if (found_by or counted) and not values:
        raise NoTemplate("it has no numbers that could differ")
    if counted and automaton.output:
        raise NoTemplate("it reports completions for each value of a variable")
    if counted and not texts:  # counting reads the events of a window, which others avoid
        raise NoTemplate(OF_ALL)
    if automaton.within is not None:
        window = exact(automaton.within)
        if window is None:
            raise NoTemplate("its window is too large to be compared exactly")
        values.append(-window)
    (source,) = automaton.sources
    template = GroupTemplate(
        automaton.time,
        (source.stream,) if wide is None else wide.streams,
        tuple(known),
        beyond(known, together),
        source.key,
        steps,
        output,
        automaton.schema.names,
        kills=forbidden,
        late=late,
        window=automaton.within is not None,
        within=automaton.within if late else None,
        slots=slots,
        found=() if own else found_by,
        counted=counted,
        texts=tuple([None if each is None else each[0] for each in own]),
        orders=orders,
        operands=tuple(arc.operand for arc in begins) if orders else (),
        wakes=wakes,
        wide=wide,
    )
    key = tuple([each[1] for each in own if each is not None]) or tuple(known.values())
    return Grouping(template, key, tuple(values))


def _repeating(automaton: Automaton) -> Grouping:
    """Of a line in which an operand repeats."""
    if any(arc.kind in (Kind.KILL, Kind.TIMEOUT) for arc in automaton.arcs):
        raise NoTemplate("an operand repeats, and something is forbidden")
    line = keyed_line(automaton)
    try:
        return selection_grouping(line)
    except NoTemplate as reason:
        found = repeating_grouping(line)
        if not found.values and _compares_numbers(automaton):
            raise NoTemplate(f"constants decide which events an operand takes, and {reason}") from None
        return found


def _compares_numbers(automaton: Automaton) -> bool:
    """Whether an event is compared with a number."""
    asked = [atom for arc in automaton.arcs for clause in arc.guard for atom in clause]
    return any(isinstance(atom.right, Constant) and atom.right.type in ("int", "float") for atom in asked)


def _asks_for_numbers(automaton: Automaton) -> bool:
    """Whether all guards say nothing but which number one attribute equals, and not all the same."""
    asked, numbers = set(), set()
    for arc in automaton.arcs:
        if arc.kind in (Kind.FORWARD, Kind.KILL):
            match arc.guard:
                case ((Comparison("=", Attribute(Side.EVENT, position), Constant(int() | float() as number)),),):
                    asked.add(position)
                    numbers.add(number)
                case _:
                    return False
    return len(asked) == 1 and len(numbers) > 1


def _within(automaton: Automaton, condition: Elapsed) -> bool:
    """Whether a time condition says no more than the window does. Operand 0 is the first of a line."""
    return condition.since <= 0 and condition.allowed == ((0, automaton.within),)
