"""SASE+ patterns compiled (SASE+ 3; semantics 2.3): which events can be taken where, by which key runs are kept apart.

Here: plans, immutable, made once a subscription. Not here: runs (broker.engine.executors.kleene), what a match is
(broker.algebra.sase.semantics).
"""

from __future__ import annotations

from .plan import Input, Negation, Plan, Step, compile_kleene

__all__ = ["Input", "Negation", "Plan", "Step", "compile_kleene"]
