"""The table of rules, and the loop that applies them until nothing changes: from an automaton to its normal form.

No two rules undo each other: `keys` makes joins over EPOCHS, `constants` makes constants over ARRIVAL; `placement` only
moves atoms towards the start; all others make something shorter. Here: the table, the loop, what it has done. Not here:
a rule (a file each).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..automaton import Automaton
from .alternatives import alternatives
from .comparisons import comparisons
from .constants import constants
from .facts import NO_WIDTHS, Facts
from .implied import implied
from .keys import keys
from .lapses import lapses
from .partitions import partitions
from .placement import placement
from .rule import ARRIVAL, EPOCHS, IN_ORDER, Rule
from .spans import spans
from .unread import unread
from .untimed import untimed
from .window import window

RULES: Final[tuple[Rule, ...]] = (
    Rule("comparisons", comparisons, machines=True),
    Rule("alternatives", alternatives, machines=True),
    Rule("window", window, ARRIVAL, machines=True, runs=False),
    Rule("partitions", partitions, ARRIVAL, machines=True, runs=False),
    Rule("spans", spans, EPOCHS),
    Rule("lapses", lapses, EPOCHS, runs=False),
    Rule("constants", constants, ARRIVAL),
    Rule("keys", keys, EPOCHS),
    Rule("placement", placement, runs=False),
    Rule("implied", implied, machines=True),
    Rule("unread", unread, last=True),
    Rule("untimed", untimed, runs=False, last=True),  # a forecast follows the streams as they are written
)
ROUNDS_MAX: Final = 16
ARCS_MAX: Final = 256  # a larger automaton stays as it is: its facts would cost more than they save


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A normal form. `counts`: by rule, in the order of the table, how often it changed something; only those that
    did."""

    automaton: Automaton
    counts: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return ", ".join([name if count == 1 else f"{name} ({count})" for name, count in self.counts])


def rewritten(
    automaton: Automaton, off: Sequence[str] = (), forecast: bool = False, widths: Mapping[str, int] = NO_WIDTHS
) -> Rewriting:
    """The normal form, without the rules that are off, and with a forecast without those that change runs. `widths`: as
    of `Facts`."""
    if automaton.time not in IN_ORDER or len(automaton.arcs) > ARCS_MAX:
        return Rewriting(automaton)
    rules = [
        rule
        for rule in RULES
        if automaton.time in rule.times
        and rule.name not in off
        and (rule.machines or automaton.machines is None)
        and (rule.runs or not forecast)
    ]
    counts: dict[str, int] = {}
    again = True
    rounds = 0
    while again and rounds < ROUNDS_MAX:
        again, rounds = False, rounds + 1
        # They stay true in a round, as runs stay the same or become fewer, until the last rules renumber slots.
        facts = Facts(automaton, widths)
        for rule in rules:
            automaton, count = rule.apply(automaton, facts)
            if count:
                counts[rule.name] = counts.get(rule.name, 0) + count
                again = again or not rule.last
                facts = facts if rule.runs and not rule.last else Facts(automaton, widths)
    return Rewriting(automaton, tuple([(rule.name, counts[rule.name]) for rule in RULES if rule.name in counts]))
