"""One Boolean machine of P-ToPSS: an AND or an OR over primitives and other machines (P-ToPSS 4.2).

Here: the gate, its inputs, and the time conditions of table 3's case 4, which are tested when it fires. A tree of gates
is one machine for each gate. Not here: which machine starts which (decomposition).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from .state_machine import Symbol, TimeCondition

Gate: TypeAlias = Literal["AND", "OR"]


@final
@dataclass(frozen=True, slots=True)
class BooleanMachine:
    """AND fires at the latest of its inputs' matches, in any order; OR at any of them. Machines are equal if they have
    the same meaning, with the inputs in the same order."""

    gate: Gate
    inputs: tuple[Symbol, ...]
    conditions: tuple[TimeCondition, ...] = ()

    def __str__(self) -> str:
        tests = "".join(f" @({condition.text})" for condition in self.conditions)
        return f" {self.gate} ".join(map(str, self.inputs)) + tests
