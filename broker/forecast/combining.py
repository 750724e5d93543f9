"""Combines the forecasts of several machines: AND and OR, from curves alone.

A curve is a list c[0..N]: the probability of a match within n steps (Passage.curve). The
corrections of P-ToPSS 5.2.3 are semantics 3.8 and forecasting 2.6-2.7:

- AND is the later of two completions, so cumulative probabilities are multiplied, a child that has completed
  being 1 from the start. The paper multiplies the chances of finishing exactly at one step.
- OR is the earlier: one minus the product of the complements. The paper's sum exceeds 1.

One after another is one chain (series). Both suppose that the machines are independent. Machines that read the same
events are not: then the result is an approximation, and Frechet's bounds hold whatever the dependence.
"""

from __future__ import annotations

from collections.abc import Sequence


def both(curves: Sequence[Sequence[float]]) -> list[float]:
    """All of several independent machines have matched within n steps; of curves of one length."""
    found = [1.0] * len(curves[0])
    for curve in curves:
        found = [a * b for a, b in zip(found, curve)]
    return found


def either(curves: Sequence[Sequence[float]]) -> list[float]:
    """At least one of several independent machines has matched within n steps."""
    return [1.0 - missing for missing in both([[1.0 - p for p in curve] for curve in curves])]


def both_bounds(curves: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """The least and the greatest that AND can be, whatever the dependence (Frechet)."""
    lowest = [max(0.0, sum(column) - (len(curves) - 1)) for column in zip(*curves)]
    return lowest, [min(column) for column in zip(*curves)]


def either_bounds(curves: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """The least and the greatest that OR can be, whatever the dependence (Frechet)."""
    return [max(column) for column in zip(*curves)], [min(1.0, sum(column)) for column in zip(*curves)]
