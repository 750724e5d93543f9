"""The plan of an automaton over epochs for keyed runs: it is merged with all others.

Here: what the planner has to know. Not here: the merged program (broker.engine.program).
"""

from __future__ import annotations

from typing import final

from ..machine_plan import MachinePlan


@final
class KeyedRunsPlan(MachinePlan):
    """No more than the name of the executor."""

    __slots__ = ()

    executor = "keyed_runs"
    version = 1
    figures = ()
    kind = "keyed runs"
    merged = True
