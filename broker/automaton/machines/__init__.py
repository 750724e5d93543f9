"""The machines of P-ToPSS as a stage of the compiler: state machines, Boolean machines, triggers (P-ToPSS 4).

Here: the machines of a composite pattern, their merging, and drawing both. Not here: decomposing a subscription, its
automaton (constructions.composite). Everything is an immutable value or a pure function.
"""

from __future__ import annotations

from .boolean_machine import BooleanMachine, Gate
from .decomposition import MASTER, Machines, Placed, PlacedMachine, Trigger, machines_of
from .drawing import machine_lines, machines_diagram, merged_diagram, merged_lines
from .merging import Merged, MergedGate, MergedState, merge
from .state_machine import Case, StateMachine, Symbol, TimeCondition
from .tree import MachineTree, Primitive

__all__ = [
    "MASTER",
    "BooleanMachine",
    "Case",
    "Gate",
    "PlacedMachine",
    "MachineTree",
    "Machines",
    "Merged",
    "MergedGate",
    "MergedState",
    "Placed",
    "Primitive",
    "StateMachine",
    "Symbol",
    "TimeCondition",
    "Trigger",
    "machine_lines",
    "machines_diagram",
    "machines_of",
    "merge",
    "merged_diagram",
    "merged_lines",
]
