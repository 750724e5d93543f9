"""The form of a rule: a function from an automaton and its facts to an automaton, and how often it did something.

Here: that contract, and the row of the table. Not here: a rule (a file each), the table and the loop (table).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from ..automaton import Automaton, TimeModel
from .facts import Facts

Rewritten: TypeAlias = tuple[Automaton, int]
"""The automaton, the same object if the count is 0; and the number of changes."""

EPOCHS: Final = (TimeModel.EPOCHS,)
ARRIVAL: Final = (TimeModel.ARRIVAL,)
IN_ORDER: Final = (*EPOCHS, *ARRIVAL)


class Rule(NamedTuple):
    """A row of the table.

    `times`: the time models of the automata that it rewrites; `machines`: also those that are made of a tree of
    machines. Runs of the two automata correspond one to one, with equal birth, state and end, unless only the matches
    do: then `runs` is false, and forecasts, which follow runs, do without the rule. `last`: it gives no other rule
    anything to do.
    """

    name: str
    apply: Callable[[Automaton, Facts], Rewritten]
    times: tuple[TimeModel, ...] = IN_ORDER
    machines: bool = False
    runs: bool = True
    last: bool = False
