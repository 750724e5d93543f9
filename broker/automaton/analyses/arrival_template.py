"""The template of an automaton over events in order of arrival: single operands, in one order, or of one stream in
several.

Here: that. Not here: lines in which an operand repeats (kleene_template), automata over epochs (epoch_template), what a
template is (template).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Attribute, Constant, Term
from ..automaton import Arc, Automaton, Elapsed, Kind, Report, Stay
from .coordinates import exact
from .event_constants import OwnText, beginning, own_constants, own_text, shared_beginning, shared_constants, texts_in
from .kleene_template import repeating_grouping
from .line import LineOperand, line_of
from .orders import orders_of
from .selection_template import selection_grouping
from .template import (
    Alternative,
    Grouping,
    GroupTemplate,
    NoTemplate,
    TemplateConditions,
    TemplateKill,
    TemplateStep,
    WideRow,
    alternatives,
    beyond,
    key_of,
    keyed_line,
    of_rows,
    reads_durations,
    reads_registers,
    uniform_key,
)
from .whole_rows import with_whole_rows
from .wide_rows import over_wide_rows

OF_ALL: Final = "it counts matches of all events, because no constant says which it is about"


def arrival_grouping(automaton: Automaton) -> Grouping:
    """Raises NoTemplate. O(size of the automaton squared)."""
    if automaton.report not in (Report.EACH, Report.COMPLETIONS):
        raise NoTemplate("it does not report each match")
    line = line_of(automaton)
    if not all(_within(automaton, condition) for arc in automaton.arcs for condition in arc.elapsed):
        raise NoTemplate("it has conditions on times other than its window")
    if any(link.take is not None for link in line):
        return _repeating(automaton)
    counted = automaton.report is Report.COMPLETIONS
    if counted and line and not _finds(automaton):  # found soon, as there may be a new shape for each subscription
        raise NoTemplate(OF_ALL)
    events = _single(automaton, line)
    late = any(arc.kind is Kind.TIMEOUT for arc in automaton.arcs)
    asked = [alternatives(arc.guard, arc.rest, len(events.begins)) for arc in events.asking]
    texts = _texts(events, asked, counted)
    each_alone = len(events.orders) > 0 and all(len(order) == 1 for order in events.orders)
    kept = len(texts.known) + len(texts.found) + len(texts.own) > 0 or each_alone
    conditions = TemplateConditions(texts.begun, kept)
    keys = [{} if each is None else dict([each]) for each in texts.own] or [texts.known for _ in asked]
    clauses = [conditions.of(own, key, of_rows) for own, key in zip(asked, keys)]
    steps = tuple(TemplateStep(events.inner.states[a.source].stay, own) for a, own in zip(events.begins, clauses))
    places_of = {arc.source: number for number, arc in enumerate(events.begins)}
    forbidden = zip(events.kills, clauses[len(steps) :])
    values = conditions.values
    if (texts.found or counted) and not values:
        raise NoTemplate("it has no numbers that could differ")
    if counted and automaton.output:
        raise NoTemplate("it reports completions for each value of a variable")
    if counted and not kept:  # counting reads the events of a window, which others avoid
        raise NoTemplate(OF_ALL)
    if automaton.within is not None:
        window = exact(automaton.within)
        if window is None:
            raise NoTemplate("its window is too large to be compared exactly")
        values.append(-window)
    (source,) = events.inner.sources
    template = GroupTemplate(
        automaton.time,
        (source.stream,) if events.wide is None else events.wide.streams,
        tuple(texts.known),
        beyond(texts.known, events.together),
        source.key,
        steps,
        events.output,
        automaton.schema.names,
        kills=tuple(TemplateKill(places_of.get(arc.source, len(steps)), own) for arc, own in forbidden),
        late=late,
        window=automaton.within is not None,
        within=automaton.within if late else None,
        slots=(0,) if events.orders else tuple(range(len(steps))),
        found=() if texts.own else texts.found,
        counted=counted,
        texts=tuple([None if each is None else each[0] for each in texts.own]),
        orders=events.orders,
        operands=tuple(arc.operand for arc in events.begins) if events.orders else (),
        wakes=texts.wakes,
        wide=events.wide,
    )
    return Grouping(template, key_of(texts.known, texts.own), tuple(values))


class SingleEvents(NamedTuple):
    """The arcs that take the events of a match, `begins`, in the `orders` of their indices, if there are several, and
    those that forbid events, `kills`, within the key, which all have at `together`."""

    inner: Automaton
    begins: list[Arc]
    kills: list[Arc]
    orders: tuple[tuple[int, ...], ...]
    output: tuple[Term, ...]
    together: tuple[int, ...]
    wide: WideRow | None

    @property
    def asking(self) -> list[Arc]:
        return [*self.begins, *self.kills]


def _single(automaton: Automaton, line: tuple[LineOperand, ...]) -> SingleEvents:
    several = len(automaton.sources) > 1
    if line:
        automaton, wide = with_whole_rows(automaton), None
        if several:
            automaton, wide = over_wide_rows(automaton)
        keyed = keyed_line(automaton)
        return SingleEvents(keyed.inner, keyed.taking, keyed.kills, (), automaton.output, keyed.together, wide)
    if several:
        raise NoTemplate("it is not a line of operands, and reads several streams")
    steps, orders, parts, output = orders_of(automaton)
    return SingleEvents(automaton, steps, [], orders, output, uniform_key(automaton, parts, steps), None)


class FoundBy(NamedTuple):
    """The texts by which events are found: `known`, the constants of the key; else `begun`, with what one attribute of
    all begins; else `own` texts of each, or one of those in `found`, which only first events have if it `wakes`."""

    known: dict[Attribute, Constant]
    begun: Clause
    found: Form
    own: tuple[OwnText | None, ...]
    wakes: bool = False


def _texts(events: SingleEvents, asked: list[list[Alternative]], counted: bool) -> FoundBy:
    forms = [arc.guard for arc in events.asking]
    begins, orders = events.begins, events.orders
    known = shared_constants(forms)
    if known:
        return FoundBy(known, (), (), ())
    # What one event begins with, all do that have the key's value with it: in each order, or it says nothing of others.
    common = events.together if all(len(order) == len(begins) for order in orders) else ()
    begun = shared_beginning(forms, common)
    own: tuple[OwnText | None, ...] = ()
    if orders and all(len(order) == 1 for order in orders):
        own = () if begun else tuple(map(_own_text, asked))
    elif not (counted or events.together):
        own = _own_texts(events, asked)
    own = own if any(own[: len(begins)]) else ()
    found = (begun,) if begun else own_constants(forms)
    if found or own or counted or orders or len(begins) == 1:
        return FoundBy({}, begun, found, own)
    found = own_constants([begins[0].guard])
    return FoundBy({}, (), found, (), wakes=len(found) > 0)


def _own_texts(events: SingleEvents, asked: list[list[Alternative]]) -> tuple[OwnText | None, ...]:
    """The text of each event of one partition that has one, and of each that is forbidden; () where no mechanism knows
    them. Of adjacent events and next matches all have one if the first has."""
    stays = {events.inner.states[arc.source].stay for arc in events.begins[1:]}
    if len(stays) != 1 or (events.inner.within is None and not stays <= {Stay.NONE, Stay.FOREIGN}):
        return ()
    if any(len(each) != 1 or each[0].among or not _alone(each[0].clause) for each in asked):
        return ()
    found = tuple(map(_own_text, asked))
    steps = found[: len(events.begins)]
    return found if stays == {Stay.ALL} or steps[0] is None or None not in steps else ()


def _own_text(asked: list[Alternative]) -> OwnText | None:
    return own_text(asked[0].clause) if len(asked) == 1 and not asked[0].among else None


def _alone(clause: Clause) -> bool:
    """Whether nothing is asked of earlier events, and not with what a text begins."""
    return not any(reads_registers(atom) or reads_durations(atom) or beginning(atom) for atom in clause)


def _repeating(automaton: Automaton) -> Grouping:
    """Of a line in which an operand repeats."""
    if automaton.report is Report.COMPLETIONS:
        raise NoTemplate("an operand repeats, and it reports completions only")
    if len(automaton.sources) > 1:
        raise NoTemplate("an operand repeats, and it reads several streams")
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


def _finds(automaton: Automaton) -> bool:
    """Whether constants may say which events it is about."""
    forms = [arc.guard for arc in automaton.arcs if arc.kind in (Kind.FORWARD, Kind.KILL)]
    return len(shared_constants(forms)) > 0 or any(texts_in(clause) for form in forms for clause in form)


def _within(automaton: Automaton, condition: Elapsed) -> bool:
    """Whether a time condition says no more than the window does. Operand 0 is the first of a line."""
    return condition.since <= 0 and condition.allowed == ((0, automaton.within),)
