"""How the runs of all members of a template may be kept as one: the first row of a table that nothing speaks against.

Here: the table, and which coordinate each constant becomes. Not here: the mechanisms themselves
(broker.engine.executors.groups), what a template is (template).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..automaton import Stay, TimeModel
from .template import NO_CONSTANTS, Compared, Grouping, GroupTemplate, TemplateClause, TemplateStep


class Mechanism(enum.Enum):
    """KLEENE: an operand repeats, and no constant that may differ changes what a run does. FILTER: one event. CHAIN:
    each next event moves a run or ends it, or is let pass for what no constant decides. FOLD: at some steps a run takes
    every next event as long as a condition holds, and may go on or report at each. NEXT_MATCH: a run waits at
    each step until constants are reached, and something may be forbidden meanwhile, or behind. SKIP_TILL: until what a
    step asks is met, whatever that is. TEXT_CHAIN: the next event with a step's own text moves a run or ends it.
    ANY_MATCH: every combination of a window, in one order of the steps or in several, which may be of one event each.
    SELECTION: an operand repeats, and constants decide which events it takes."""

    KLEENE = "kleene"
    FILTER = "filter"
    CHAIN = "chain"
    FOLD = "fold"
    NEXT_MATCH = "next match"
    SKIP_TILL = "skip till"
    TEXT_CHAIN = "text chain"
    ANY_MATCH = "any match"
    SELECTION = "selection"


@dataclass(frozen=True, slots=True)
class Layout:
    """A mechanism, the number of its coordinates, and by constant which coordinate it is; of a factor the first of two,
    the second of which has its opposite."""

    mechanism: Mechanism
    dimensions: int
    coordinates: tuple[int, ...]

    def point(self, grouping: Grouping) -> list[float]:
        """The coordinates of an automaton's constants."""
        point = [0.0] * self.dimensions
        for (source, value), at in zip(_constants(grouping), self.coordinates):
            point[at] = value
            if source is Compared.FACTOR:
                point[at + 1] = -value
        return point


Against: TypeAlias = str


def layout_of(grouping: Grouping) -> Layout | Against:
    """The layout of the first mechanism that can keep the template's runs, or what speaks against each."""
    against: list[str] = []
    if not grouping.values:
        return NO_CONSTANTS
    for mechanism, rule in _table(grouping.template):
        found = rule(grouping.template)
        if found is None:
            return Layout(mechanism, *_placed(grouping, mechanism))
        against.append(f"{mechanism.value}: {found}")
    return "; ".join(against)


def _constants(grouping: Grouping) -> list[tuple[Compared, float]]:
    sources = [asked.source for clause in grouping.template.clauses() for asked in clause.asked]
    if grouping.template.window:
        sources.append(Compared.SPAN)
    return list(zip(sources, grouping.values))


def _placed(grouping: Grouping, mechanism: Mechanism) -> tuple[int, tuple[int, ...]]:
    """How many coordinates there are, and which each constant is: in next matches one of the second step is the first,
    since it decides whose runs an event ends."""
    constants = _constants(grouping)
    order = list(range(len(constants)))
    if mechanism is Mechanism.NEXT_MATCH:
        before, second = (sum(len(clause.asked) for clause in step.clauses) for step in grouping.template.steps[:2])
        if second > 0:
            order.insert(0, order.pop(before))
    found = [0] * len(constants)
    upto = 0
    for number in order:
        found[number] = upto
        upto += 2 if constants[number][0] is Compared.FACTOR else 1
    return upto, tuple(found)


# --- what each mechanism asks ---------------------------------------------------------------------------------------

Rule: TypeAlias = Callable[[GroupTemplate], Against | None]
"""What speaks against it."""


def _filter(template: GroupTemplate) -> Against | None:
    if len(template.steps) != 1:
        return "it has several steps"
    if any(asked.source is Compared.DURATION for clause in template.clauses() for asked in clause.asked):
        return "the event's duration is compared"
    if any(clause.among for clause in template.clauses()):
        return "an index finds a single event by a list of constants"
    return "something is forbidden" if template.kills or template.late else None


def _chain(template: GroupTemplate) -> Against | None:
    if len(template.steps) < 2:
        return "it has one step"
    if template.kills or template.late:
        return "something is forbidden"
    if any(asked.source is Compared.DURATION for clause in template.steps[0].clauses for asked in clause.asked):
        return "the first event's duration is compared"
    if any(step.again is not None for step in template.steps):
        return "runs take events again and again"
    for step in template.steps[1:]:
        if step.stay is Stay.ALL:
            return "runs stay also where they move"
        if step.stay is Stay.UNTAKEN and any(clause.asked for clause in step.clauses):
            return "constants decide how long a run waits"
    return None


def _fold(template: GroupTemplate) -> Against | None:
    if all(step.again is None for step in template.steps):
        return "nothing repeats behind its first event"
    if len(template.steps) > 2 and any(len(step.clauses) > 1 for step in template.steps[:-1]):
        return "a step before the last one has alternatives"
    for step in template.steps:
        if step.again is not None and len(step.again) > 1 and any(clause.asked for clause in step.again):
            return "what repeats has constants in alternatives"
    return None


def _waits(steps: tuple[TemplateStep, ...]) -> str | None:
    """Why the steps behind the first do not wait for what the event alone says, those behind the second for one
    constant at most."""
    for step in steps:
        if step.stay is not Stay.UNTAKEN:
            return "not every step skips till the next match"
        if len(step.clauses) != 1:
            return "a condition has alternatives"
        if not step.clauses[0].alone:
            return "an event is compared with an earlier one"
    if any(step.clauses[0].asked and not _single(step.clauses[0]) for step in steps[1:]):
        return "a step behind the second waits for several constants"
    return None


def _single(clause: TemplateClause) -> bool:
    return len(clause.asked) == 1 and clause.asked[0].of_event


def _next_match(template: GroupTemplate) -> Against | None:
    if len(template.steps) < 2:
        return "it has one step"
    against = _waits(template.steps[1:]) or _forbids(template)
    if against is not None:
        return against
    if len(template.steps[0].clauses) != 1:
        return "a condition has alternatives"
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    if not template.window and (len(template.steps) > 2 or template.texts):
        return "it has no window, and more than two steps, or a text at each"
    if template.time is TimeModel.EPOCHS and template.parts:
        return "what a member has met would be noted for each partition"
    return None


def _forbids(template: GroupTemplate) -> str | None:
    """Why what is forbidden is more than an event behind the first step, or behind the last where time completes a
    match."""
    if any(len(kill.clauses) != 1 or not kill.clauses[0].alone for kill in template.kills):
        return "what is forbidden has alternatives, or is compared with an earlier event"
    places = {kill.place for kill in template.kills}
    if 0 in places or (len(template.steps) in places) != template.late:
        return "something is forbidden before the first step"
    return None


def _text_chain(template: GroupTemplate) -> Against | None:
    if template.time is not TimeModel.EPOCHS:
        return "each event is an epoch of its own"
    if any(len(step.clauses) != 1 for step in template.steps):
        return "a condition has alternatives"
    if not all(clause.alone for clause in template.clauses()):
        return "an event is compared with an earlier one"
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    return None


def _skip_till(template: GroupTemplate) -> Against | None:
    if len(template.steps) < 2 or template.kills or template.late:
        return "it has one step, or something is forbidden"
    if any(asked.source is Compared.DURATION for clause in template.steps[0].clauses for asked in clause.asked):
        return "the first event's duration is compared"
    if any(step.stay is not Stay.UNTAKEN for step in template.steps[1:]):
        return "not every step skips till the next match"
    return None


def _any_match(template: GroupTemplate) -> Against | None:
    if len(template.steps) < 2 or template.late or not template.window:
        return "it has one step, no window, or something is forbidden behind it"
    if any(kill.place != len(template.steps) - 1 for kill in template.kills):
        return "something is forbidden elsewhere than before the last step"
    if _forbids(template) is not None:
        return "what is forbidden has alternatives, or is compared with an earlier event"
    if any(step.stay is not Stay.ALL for step in template.steps[1:]):
        return "runs do not stay where they move"
    return _alone(template)


def _adjacency(template: GroupTemplate) -> Against | None:
    if any(step.stay not in (Stay.NONE, Stay.FOREIGN) for step in template.steps[1:]):
        return "its events need not be adjacent"
    return _alone(template)


def _any_order(template: GroupTemplate) -> Against | None:
    if any(len(order) > 1 for order in template.orders):
        return _alone(template) if template.window else "it has no window"
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    return None


def _alone(template: GroupTemplate) -> Against | None:
    if any(len(step.clauses) != 1 or not step.clauses[0].alone for step in template.steps):
        return "a condition has alternatives, or compares an event with an earlier one"
    return None


def _nothing(template: GroupTemplate) -> Against | None:
    return None


def _table(template: GroupTemplate) -> tuple[tuple[Mechanism, Rule], ...]:
    if template.common is not None:
        return REPEATING
    if template.time is TimeModel.ARRIVAL and any(step.again is not None for step in template.steps):
        return SELECTING
    if template.orders:
        return ORDERS
    if template.texts:
        return OTHER_KEYS
    return COUNTING if template.counted else TABLE


REPEATING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.KLEENE, _nothing),)
SELECTING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.SELECTION, _nothing),)
OTHER_KEYS: Final[tuple[tuple[Mechanism, Rule], ...]] = (
    (Mechanism.NEXT_MATCH, _next_match),
    (Mechanism.ANY_MATCH, _any_match),
    (Mechanism.CHAIN, _adjacency),
    (Mechanism.TEXT_CHAIN, _text_chain),
)
ORDERS: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.ANY_MATCH, _any_order),)
COUNTING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.ANY_MATCH, _any_match),)
TABLE: Final[tuple[tuple[Mechanism, Rule], ...]] = (
    (Mechanism.FILTER, _filter),
    (Mechanism.CHAIN, _chain),
    (Mechanism.FOLD, _fold),
    (Mechanism.NEXT_MATCH, _next_match),
    (Mechanism.SKIP_TILL, _skip_till),
    (Mechanism.ANY_MATCH, _any_match),
)
