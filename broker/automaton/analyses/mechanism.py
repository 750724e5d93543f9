"""How the runs of all members of a template may be kept as one: the first row of a table that nothing speaks against.

Here: the table, and which coordinate each constant becomes. Not here: the mechanisms themselves
(broker.engine.executors.groups), what a template is (template).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ..automaton import Stay, TimeModel
from .template import Compared, Grouping, GroupTemplate, TemplateClause, TemplateStep


class Mechanism(enum.Enum):
    """KLEENE: an operand repeats, and no constant that may differ changes what a run does. FILTER: one event. CHAIN:
    each next event moves a run or ends it, or is let pass for what no constant decides. FOLD: at some steps a run takes
    every next event as long as a condition holds, and may go on or report at each. WAIT: a run waits until one constant
    is reached. NEXT_MATCH: until several are, or one by events that take time. SKIP_TILL: each step until what it asks
    is met, whatever that is. HISTORY: three steps, of which the last asks what the first asks. ITEMS: next matches of
    three steps and more. TRAILING: next matches, and what must not follow. TEXT_CHAIN: the next event with a step's own
    text moves a run or ends it. CHOICE: one event, which may be any of the steps. ANY_MATCH: every combination of a
    window, in one order of the steps or in several. ADJACENCY: adjacent events, each with a step's own text.
    SELECTION: an operand repeats, and constants decide which events it takes."""

    KLEENE = "kleene"
    FILTER = "filter"
    CHAIN = "chain"
    FOLD = "fold"
    WAIT = "wait"
    NEXT_MATCH = "next match"
    SKIP_TILL = "skip till"
    HISTORY = "history"
    ITEMS = "items"
    TRAILING = "trailing"
    TEXT_CHAIN = "text chain"
    CHOICE = "choice"
    ANY_MATCH = "any match"
    ADJACENCY = "adjacency"
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
        return "it has no constants that could differ"
    for mechanism, rule in _table(grouping.template):
        found = rule(grouping)
        if not isinstance(found, str):
            return Layout(mechanism, *_placed(grouping, *found))
        against.append(f"{mechanism.value}: {found}")
    return "; ".join(against)


def _constants(grouping: Grouping) -> list[tuple[Compared, float]]:
    sources = [asked.source for clause in grouping.template.clauses() for asked in clause.asked]
    if grouping.template.window:
        sources.append(Compared.SPAN)
    return list(zip(sources, grouping.values))


def _placed(grouping: Grouping, first: list[int], equal: dict[int, int]) -> tuple[int, tuple[int, ...]]:
    """How many coordinates there are, and which each constant is: those in `first` before all others, and of two equal
    ones the later with the earlier."""
    constants = _constants(grouping)
    order = [*first, *(number for number in range(len(constants)) if number not in first)]
    found: dict[int, int] = {}
    upto = 0
    for number in order:
        if number in equal:
            continue
        found[number] = upto
        upto += 2 if constants[number][0] is Compared.FACTOR else 1
    return upto, tuple(found[equal.get(number, number)] for number in range(len(constants)))


# --- what each mechanism asks ---------------------------------------------------------------------------------------

Rule: TypeAlias = Callable[[Grouping], tuple[list[int], dict[int, int]] | Against]
"""What speaks against it, or which constants come first and which are the same coordinate as another."""


def _filter(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) != 1:
        return "it has several steps"
    if any(asked.source is Compared.DURATION for clause in template.clauses() for asked in clause.asked):
        return "the event's duration is compared"
    if any(clause.among for clause in template.clauses()):
        return "an index finds a single event by a list of constants"
    return "something is forbidden" if template.kills or template.late else ([], {})


def _chain(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
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
    return [], {}


def _fold(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if all(step.again is None for step in template.steps):
        return "nothing repeats behind its first event"
    if len(template.steps) > 2 and any(len(step.clauses) > 1 for step in template.steps[:-1]):
        return "a step before the last one has alternatives"
    for step in template.steps:
        if step.again is not None and len(step.again) > 1 and any(clause.asked for clause in step.again):
            return "what repeats has constants in alternatives"
    return [], {}


def _waits(steps: tuple[TemplateStep, ...]) -> str | None:
    """Why the steps behind the first do not wait for one constant each."""
    for step in steps:
        if step.stay is not Stay.UNTAKEN:
            return "not every step skips till the next match"
        if len(step.clauses) != 1:
            return "a condition has alternatives"
        if not step.clauses[0].alone:
            return "an event is compared with an earlier one"
    for step in steps[1:]:
        if not _single(step.clauses[0]):
            return "a step waits for several constants, or for none"
    return None


def _single(clause: TemplateClause) -> bool:
    return len(clause.asked) == 1 and clause.asked[0].of_event


def _wait(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) != 2:
        return "it has not two steps"
    if template.time is TimeModel.EPOCHS:
        return "events may take time"
    against = _waits_from_second(template)
    if against is not None:
        return against
    return _forbids_within_pair(template) or ([_number_of(template, 1)], {})


def _next_match(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) != 2 or template.late or (template.kills and not template.texts):
        return "it has not two steps, or something is forbidden"
    if template.parts:
        return "what a member has met would be noted for each partition"
    if len(template.steps[0].clauses) != 1:
        return "a condition has alternatives"
    against = _waits(template.steps[1:])
    if against is not None:
        return against
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    return [_number_of(template, 1)] if template.steps[1].clauses[0].asked else [], {}


def _text_chain(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if template.time is not TimeModel.EPOCHS:
        return "each event is an epoch of its own"
    if any(len(step.clauses) != 1 for step in template.steps):
        return "a condition has alternatives"
    if not all(clause.alone for clause in template.clauses()):
        return "an event is compared with an earlier one"
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    return [], {}


def _waits_from_second(template: GroupTemplate) -> str | None:
    if len(template.steps[0].clauses) != 1:
        return "a condition has alternatives"
    against = _waits((template.steps[0], *template.steps[1:])[1:])
    if against is None and not _single(template.steps[1].clauses[0]):
        return "a step waits for several constants, or for none"
    return against


def _forbids_within_pair(template: GroupTemplate) -> str | None:
    """Why what is forbidden is more than one number between the first two steps."""
    if template.late or len(template.kills) > 1 or any(kill.place != 1 for kill in template.kills):
        return "something is forbidden elsewhere than between the first two steps"
    return None if _forbids_by_one(template) else "what is forbidden does not ask for one constant of the event"


def _forbids_by_one(template: GroupTemplate) -> bool:
    clauses = [clause for kill in template.kills for clause in kill.clauses]
    one_each = all(len(kill.clauses) == 1 for kill in template.kills)
    return one_each and all(_single(clause) and clause.alone for clause in clauses)


def _number_of(template: GroupTemplate, step: int) -> int:
    """The first constant of a step."""
    return sum(len(clause.asked) for before in template.steps[:step] for clause in before.clauses)


def _history(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template, values = grouping.template, grouping.values
    if len(template.steps) != 3 or template.kills or template.late:
        return "it has not three steps, or something is forbidden"
    if not template.window:
        return "it has no window"
    against = _waits_from_second(template)
    if against is not None:
        return against
    first, middle, last = (step.clauses[0] for step in template.steps)
    asked, between = last.asked[0], middle.asked[0]
    weaker = set(last.rest) <= set(first.rest) and last.among in ((), first.among)
    if asked not in first.asked or not weaker:
        return "the last step does not ask what the first asks"
    shared = first.asked.index(asked)
    second, third = _number_of(template, 1), _number_of(template, 2)
    if values[shared] != values[third]:
        return "the last step has a constant of its own"
    opposite = between.attribute == asked.attribute and between.sign == -asked.sign
    if not opposite or not values[shared] > -values[second]:
        return "an event may be the first and the second one"
    return [shared], {third: shared}


def _items(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) < 3:
        return "it has fewer than three steps"
    return _waits_from_second(template) or _forbids_within_pair(template) or ([_number_of(template, 1)], {})


def _items_of_texts(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if template.time is not TimeModel.ARRIVAL:
        return "events may take time"
    if len(template.steps) < 3 or template.late:
        return "it has fewer than three steps, or time completes a match"
    for step in template.steps[2:]:
        if step.clauses[0].asked and not _single(step.clauses[0]):
            return "a step behind the second waits for several constants"
    pair = replace(template, steps=template.steps[:2])
    return _next_match(grouping._replace(template=pair))


def _trailing(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if not template.late or len(template.steps) != 2 or [kill.place for kill in template.kills] != [2]:
        return "it is not two steps and what must not follow"
    against = _waits_from_second(template)
    if against is not None:
        return against
    if not _forbids_by_one(template):
        return "what is forbidden does not ask for one constant of the event"
    return [_number_of(template, 1)], {}


def _trailing_of_texts(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if not template.late:
        return "time completes no match"
    pairs = grouping._replace(template=replace(template, late=False))
    return _next_match(pairs) if len(template.steps) == 2 else _items_of_texts(pairs)


def _skip_till(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) < 2 or template.kills or template.late:
        return "it has one step, or something is forbidden"
    if any(asked.source is Compared.DURATION for clause in template.steps[0].clauses for asked in clause.asked):
        return "the first event's duration is compared"
    if any(step.stay is not Stay.UNTAKEN for step in template.steps[1:]):
        return "not every step skips till the next match"
    return [], {}


def _any_match(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if len(template.steps) < 2 or template.late or not template.window:
        return "it has one step, no window, or something is forbidden behind it"
    if template.kills and not template.texts:
        return "something is forbidden"
    if any(step.stay is not Stay.ALL for step in template.steps[1:]):
        return "runs do not stay where they move"
    return _alone(template)


def _adjacency(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if any(step.stay not in (Stay.NONE, Stay.FOREIGN) for step in template.steps[1:]):
        return "its events need not be adjacent"
    return _alone(template)


def _any_order(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if not template.window and any(len(order) > 1 for order in template.orders):
        return "it has no window"
    return _alone(template)


def _choice(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    template = grouping.template
    if any(not asked.of_event for clause in template.clauses() for asked in clause.asked):
        return "more than attributes is compared"
    several = any(len(order) > 1 for order in template.orders)
    return "a match may have several events" if several else ([], {})


def _alone(template: GroupTemplate) -> tuple[list[int], dict[int, int]] | Against:
    if any(len(step.clauses) != 1 or not step.clauses[0].alone for step in template.steps):
        return "a condition has alternatives, or compares an event with an earlier one"
    return [], {}


def _repeating(grouping: Grouping) -> tuple[list[int], dict[int, int]] | Against:
    return [], {}


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


REPEATING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.KLEENE, _repeating),)
SELECTING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.SELECTION, _repeating),)
OTHER_KEYS: Final[tuple[tuple[Mechanism, Rule], ...]] = (
    (Mechanism.NEXT_MATCH, _next_match),
    (Mechanism.ITEMS, _items_of_texts),
    (Mechanism.TRAILING, _trailing_of_texts),
    (Mechanism.ANY_MATCH, _any_match),
    (Mechanism.ADJACENCY, _adjacency),
    (Mechanism.TEXT_CHAIN, _text_chain),
)
ORDERS: Final[tuple[tuple[Mechanism, Rule], ...]] = (
    (Mechanism.CHOICE, _choice),
    (Mechanism.ANY_MATCH, _any_order),
)
COUNTING: Final[tuple[tuple[Mechanism, Rule], ...]] = ((Mechanism.ANY_MATCH, _any_match),)
TABLE: Final[tuple[tuple[Mechanism, Rule], ...]] = (
    (Mechanism.FILTER, _filter),
    (Mechanism.CHAIN, _chain),
    (Mechanism.FOLD, _fold),
    (Mechanism.WAIT, _wait),
    (Mechanism.NEXT_MATCH, _next_match),
    (Mechanism.HISTORY, _history),
    (Mechanism.ITEMS, _items),
    (Mechanism.TRAILING, _trailing),
    (Mechanism.SKIP_TILL, _skip_till),
    (Mechanism.ANY_MATCH, _any_match),
)
