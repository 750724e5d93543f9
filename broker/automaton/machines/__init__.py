"""The machines of P-ToPSS as a stage of the compiler: state machines, Boolean machines, triggers (P-ToPSS 4).

Here: the machines of a composite pattern, their merging, and drawing both. Not here: decomposing a subscription, its
automaton (constructions.composite). Everything is an immutable value or a pure function.
"""

from __future__ import annotations

from .decomposition import machines_of
from .drawing import machine_lines, machines_diagram, merged_diagram, merged_lines
from .merging import merge

__all__ = ["machine_lines", "machines_diagram", "machines_of", "merge", "merged_diagram", "merged_lines"]
