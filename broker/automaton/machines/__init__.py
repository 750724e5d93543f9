"""The machines of P-ToPSS as a stage of the compiler: state machines, Boolean machines, triggers (P-ToPSS 4).

Here: what a composite subscription decomposes into, what subscriptions share, and how both are drawn. Not here: what
runs. Everything is an immutable value or a pure function.
"""

from __future__ import annotations

from .boolean_machine import BooleanMachine, Gate
from .decomposition import MASTER, Machine, Machines, Placed, Primitive, Trigger, decompose
from .drawing import machine_lines, machines_diagram, merged_diagram, merged_lines
from .merging import Merged, MergedGate, MergedState, merge
from .state_machine import (
    Case,
    Instance,
    Link,
    LinkKind,
    StateMachine,
    Symbol,
    TimeCondition,
    build_state_machine,
    live_instances,
)

__all__ = [
    "MASTER",
    "BooleanMachine",
    "Case",
    "Gate",
    "Instance",
    "Link",
    "LinkKind",
    "Machine",
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
    "build_state_machine",
    "decompose",
    "live_instances",
    "machine_lines",
    "machines_diagram",
    "merge",
    "merged_diagram",
    "merged_lines",
]
