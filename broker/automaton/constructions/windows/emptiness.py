"""What of a window subscription matches nothing, whatever events come: for a warning at its place.

A text may say so in many ways: `any{2} & any{3}` has no length, `[price > 3] & [price < 2]` no event, `[a] & !(any)` no
sequence. So the question is asked of the automaton of an expression, over the classes of events that may come. An
answer is certain: what has too many states, or a class that only never comes, counts as possible.

Here: that question, and the smallest part that is to blame. Not here: who is warned (broker.engine.inspection).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....algebra.window.window_expression import WindowExpression, WindowRegex
from ...windows.window_automaton import DEAD
from .classes import classes_of
from .construction import TOO_LARGE, automaton_of_windows, conditions_of
from .determinisation import explored
from .lengths import EVERYTHING, bounded
from .regular import RegularExpressions

LENGTHS_MAX: Final = 10_000
"""Lengths of sequences that are looked at; if none of them matches, a longer one may."""


def impossible(expression: WindowExpression, text: str) -> Iterator[tuple[int, str]]:
    """Places in the text, and what is said of each. O(states of the automata). Raises as the construction does."""
    formula = expression.formula
    if formula is not None:
        windows = automaton_of_windows(expression, text).windows
        if windows is not None and all(start == DEAD for part in windows.parts for start in part.starts):
            yield formula.at, "no events satisfy this, so that there is never a window"
    classes = classes_of(conditions_of(expression)) if expression.pairs else []
    for pair in expression.pairs:
        for regex, empty in ((pair.prefix, True), (pair.body, False)):
            if not _matches(regex, classes, empty):
                part = _smallest(regex, classes)
                yield part.at, "no events match this, so that there is never such a window"


def _smallest(regex: WindowRegex, classes: list[int]) -> WindowRegex:
    """The smallest part that matches nothing; the expression itself if all its parts match something."""
    while True:
        inner = next((part for part in regex.parts if not _matches(part, classes, True)), None)
        if inner is None:
            return regex
        regex = inner


def _matches(regex: WindowRegex, classes: list[int], empty: bool) -> bool:
    """Whether it matches a sequence, perhaps an `empty` one."""
    space = RegularExpressions()
    inner, (least, most) = bounded(regex)
    try:
        if empty and space.nullable(space.of(regex)):
            return True
        if most is not None and most < least:
            return False
        if inner == EVERYTHING:
            return True
        nodes, table = explored([space.of(inner)], lambda node: [space.derivative(node, one) for one in classes])
    except TOO_LARGE:
        return True
    final = {state for state, node in enumerate(nodes) if space.nullable(node)}
    reached, known = {0}, set[frozenset[int]]()
    for length in range(1, LENGTHS_MAX if most is None else min(most + 1, LENGTHS_MAX)):
        reached = {target for state in reached for target in table[state]}
        if length < least:
            continue
        if not final.isdisjoint(reached):
            return True
        if frozenset(reached) in known:
            return False
        known.add(frozenset(reached))
    return most is None or most >= LENGTHS_MAX
