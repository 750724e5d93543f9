"""How good forecasts were, and how sure that is: measures of predictions with outcomes, on blocks drawn again.

Predictions of one station or aircraft are not independent of each other, so intervals come from drawing whole blocks
with replacement (block bootstrap); drawings are the same for every model, so that differences are paired.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log
from typing import Any, Final, final

DRAWINGS: Final = 250
SEED: Final = 1995
BINS: Final = 20  # of the calibration error
CELLS: Final = 1_000  # of the area under the curve, where blocks are drawn again
CERTAIN: Final = 1e-9
CHANCE: Final = 0.95  # that an interval holds the true value


@final
@dataclass(frozen=True, slots=True)
class Predictions:
    """Columns of one length: probability, outcome, and the block (a run) that it belongs to."""

    probabilities: list[float]
    outcomes: list[bool]
    blocks: list[int]

    def __len__(self) -> int:
        return len(self.outcomes)


def area(predictions: Predictions) -> float:
    """The chance that a true has a higher probability than a false, ties counting half; exact. O(n log n)."""
    below = doubled = trues = 0
    pairs = sorted(zip(predictions.probabilities, predictions.outcomes))
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        outcomes = [outcome for _, outcome in tied]
        hits = sum(outcomes)
        falses = len(outcomes) - hits
        doubled += hits * (2 * below + falses)
        below += falses
        trues += hits
    return doubled / (2 * trues * below) if trues and below else 0.5


@final
class Sums:
    """What the measures need, and what adds up: of a block, or of blocks drawn."""

    def __init__(self) -> None:
        self.count = 0
        self.hits = 0
        self.brier = 0.0
        self.log = 0.0
        self.binned = [[0.0, 0.0, 0.0] for _ in range(BINS)]  # number, trues, said
        self.cells: dict[int, list[int]] = {}  # number, trues
        self.told = [0, 0]  # false, true at the threshold

    def take(self, probability: float, outcome: bool, threshold: float) -> None:
        """One prediction. O(1)."""
        self.count += 1
        self.hits += outcome
        self.brier += (probability - outcome) ** 2
        self.log -= log(max(probability if outcome else 1.0 - probability, CERTAIN))
        binned = self.binned[min(int(probability * BINS), BINS - 1)]
        binned[0] += 1
        binned[1] += outcome
        binned[2] += probability
        cell = self.cells.setdefault(int(probability * CELLS), [0, 0])
        cell[0] += 1
        cell[1] += outcome
        if probability > threshold:
            self.told[outcome] += 1

    def add(self, other: Sums, times: int) -> None:
        """Another block, drawn so many times. O(cells of the other)."""
        self.count += times * other.count
        self.hits += times * other.hits
        self.brier += times * other.brier
        self.log += times * other.log
        for mine, theirs in zip(self.binned, other.binned):
            if theirs[0]:
                for place in range(3):
                    mine[place] += times * theirs[place]
        for at, (count, hits) in other.cells.items():
            cell = self.cells.setdefault(at, [0, 0])
            cell[0] += times * count
            cell[1] += times * hits
        for place in range(2):
            self.told[place] += times * other.told[place]

    def measures(self) -> dict[str, float]:
        """All of them by name. `auc` is by cells here; `skill` is Brier's beside the base rate in these outcomes."""
        count = max(self.count, 1)
        base = self.hits / count
        below = doubled = 0
        for at in sorted(self.cells):
            number, hits = self.cells[at]
            doubled += hits * (2 * below + number - hits)
            below += number - hits
        spread = base * (1.0 - base)
        notices = sum(self.told)
        return {
            "base_rate": base,
            "auc": doubled / (2 * self.hits * below) if self.hits and below else 0.5,
            "brier": self.brier / count,
            "skill": 1.0 - self.brier / count / spread if spread else 0.0,
            "log_loss": self.log / count,
            "ece": sum(abs(hits - said) for _, hits, said in self.binned) / count,
            "true": self.told[1],
            "false": self.told[0],
            "precision": self.told[1] / notices if notices else 0.0,
        }


def sums(predictions: Predictions, threshold: float) -> dict[int, Sums]:
    """Those of each block. O(n)."""
    found: dict[int, Sums] = {}
    for probability, outcome, block in zip(predictions.probabilities, predictions.outcomes, predictions.blocks):
        if block not in found:
            found[block] = Sums()
        found[block].take(probability, outcome, threshold)
    return found


def scored(predictions: Predictions, threshold: float) -> dict[str, float]:
    """All measures of the predictions themselves, the area exact."""
    total = Sums()
    for block in sums(predictions, threshold).values():
        total.add(block, 1)
    return total.measures() | {"auc": area(predictions), "predictions": float(len(predictions))}


def drawn(blocks: Sequence[int], drawings: int = DRAWINGS) -> list[dict[int, int]]:
    """How often each block is in each drawing of as many as there are; always the same ones."""
    draw = random.Random(SEED)
    found: list[dict[int, int]] = []
    for _ in range(drawings):
        times: dict[int, int] = {}
        for block in draw.choices(blocks, k=len(blocks)):
            times[block] = times.get(block, 0) + 1
        found.append(times)
    return found


def redrawn(predictions: Predictions, threshold: float, drawings: Sequence[dict[int, int]]) -> list[dict[str, float]]:
    """The measures of each drawing. O(drawings x cells)."""
    of_blocks = sums(predictions, threshold)
    found: list[dict[str, float]] = []
    for drawing in drawings:
        total = Sums()
        for block, times in drawing.items():
            if block in of_blocks:
                total.add(of_blocks[block], times)
        found.append(total.measures())
    return found


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Between which the middle CHANCE of the values lies."""
    ordered = sorted(values)
    cut = (1.0 - CHANCE) / 2.0
    return ordered[int(cut * len(ordered))], ordered[min(int((1.0 - cut) * len(ordered)), len(ordered) - 1)]


def reliability(predictions: Predictions) -> list[dict[str, Any]]:
    """What was said and what happened, by bin."""
    total = Sums()
    for probability, outcome in zip(predictions.probabilities, predictions.outcomes):
        total.take(probability, outcome, 1.0)
    return [
        {"said": round(said / n, 4), "happened": round(hits / n, 4), "predictions": int(n)}
        for n, hits, said in total.binned
        if n
    ]


def differences(ours: Sequence[dict[str, float]], others: Sequence[dict[str, float]], name: str) -> tuple[float, float]:
    """The interval of ours less the others', by drawing: of equal drawings."""
    return interval([mine[name] - theirs[name] for mine, theirs in zip(ours, others)])
