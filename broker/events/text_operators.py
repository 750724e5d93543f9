"""LIKE, MATCHES and CIDR by their operator: the condition of a pattern."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from .networks import network
from .regular_expressions import parse_regex
from .text_automaton import TextAutomaton
from .text_condition import TextCondition
from .wildcards import wildcards

LIKE: Final = "like"
LIKE_FOLDED: Final = "like~"
MATCHES: Final = "matches"
MATCHES_FOLDED: Final = "matches~"
CIDR: Final = "cidr"
TEXT_OPERATORS: Final = (LIKE, LIKE_FOLDED, MATCHES, MATCHES_FOLDED, CIDR)


@lru_cache(maxsize=1024)
def condition_of(operator: str, pattern: str) -> TextCondition:
    """The condition of a pattern, one object for recent ones, which share what they keep. Linear in the pattern with
    its repetitions written out. Raises PatternError at a mistake."""
    if operator == CIDR:
        return network(pattern)
    if operator in (LIKE, LIKE_FOLDED):
        return wildcards(pattern, operator == LIKE_FOLDED)
    regex, fold = parse_regex(pattern, operator == MATCHES_FOLDED)
    return TextAutomaton(regex, fold)
