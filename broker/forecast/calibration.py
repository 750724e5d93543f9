"""How good the probabilities were, judged by their outcomes. Nothing is corrected here.

Every resolved prediction falls into one of BINS equal bins of probability. A bin holds how many, how many came true,
and the sum of the probabilities; with the sums of the losses that is all that the measures need (forecasting 3):

- Brier score: mean (p - outcome)**2; log loss: mean -log of the probability given to what happened. Each stands beside
  that of the base rate, a forecaster that always predicts the share of trues in these outcomes. Predictions
  worse than that have errors larger than their distinctions: they are not calibrated.
- ECE: the mean distance between the prediction and the share of trues, over bins weighted by their number.
- precision, recall and lead of notices: notices that came true; matches that had a notice; how long before.

Probabilities are taken in millionths and sums are integers, so that they are exact in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, Final, final

from mypy_extensions import i64

from .notifying import ResolvedForecast

MILLIONTHS: Final = 1_000_000
SURPRISE_MAX: Final = 20 * MILLIONTHS
"""What an outcome costs at most that a prediction held impossible: e**-20, in millionths of a nat."""
BINS: Final = 100
SHOWN_BINS: Final = 20
OUTCOMES_MIN: Final = 200
"""Outcomes before predictions are called worse than the base rate."""
WORSE: Final = 1
"""Squared errors, in all, by which predictions may be worse than the base rate, which is known only afterwards."""
_EMPTY: Final = [0] * BINS  # of all that have no outcome yet; nobody changes it
_SUMS: Final = ("brier", "log", "true", "false", "censored", "censored_notices", "matches", "foretold", "lead")


def surprise(probability: float) -> i64:
    """-log(probability) in millionths of a nat, at most SURPRISE_MAX."""
    if probability <= 2.1e-9:
        return SURPRISE_MAX
    return min(i64(-log(probability) * MILLIONTHS + 0.5), SURPRISE_MAX)


@final
class Calibration:
    """The outcomes of one subscription's predictions. All fields are sums."""

    def __init__(self) -> None:
        self.counts: list[int] = _EMPTY
        self.hits: list[int] = _EMPTY
        self.said: list[int] = _EMPTY  # millionths
        self.brier: int = 0  # millionths squared
        self.log: int = 0  # millionths of a nat
        self.true: int = 0  # notices that came true
        self.false: int = 0
        self.censored: int = 0  # predictions whose outcome will never be known
        self.censored_notices: int = 0
        self.matches: int = 0
        self.foretold: int = 0  # matches with a notice before them
        self.lead: int = 0  # of all notices that came true, in the unit of the clocks

    def record(self, probability: float, outcome: bool) -> None:
        """A prediction was resolved. O(1)."""
        said = millionths(probability)
        place = bin_of(probability)
        self.own_bins()
        counts, sums = self.counts, self.said
        counts[place] = counts[place] + 1  # in place it would be a call into the interpreter
        sums[place] = sums[place] + int(said)
        error = said
        chance = 1.0 - probability
        if outcome:
            self.hits[place] += 1
            error = MILLIONTHS - said
            chance = probability
        self.brier += int(error * error)
        self.log += int(surprise(chance))

    def resolved(self, resolution: ResolvedForecast) -> None:
        """A notice was resolved. O(1)."""
        if resolution.outcome == "censored":
            self.censored_notices += 1
        elif resolution.outcome:
            self.true += 1
            self.lead += resolution.lead or 0
        else:
            self.false += 1

    def matched(self, foretold: bool) -> None:
        """A match came, `foretold` if a notice was outstanding. O(1)."""
        self.matches += 1
        self.foretold += foretold

    # --- sums that are kept elsewhere ---------------------------------------------------------------------------

    def add(self, other: Calibration) -> None:
        """Add all sums of another one. O(BINS)."""
        if other.counts is not _EMPTY:
            self.own_bins()
            for bin in range(BINS):
                self.counts[bin] += other.counts[bin]
                self.hits[bin] += other.hits[bin]
                self.said[bin] += other.said[bin]
        self.brier, self.log = self.brier + other.brier, self.log + other.log
        self.true, self.false = self.true + other.true, self.false + other.false
        self.censored += other.censored
        self.censored_notices += other.censored_notices
        self.matches, self.foretold = self.matches + other.matches, self.foretold + other.foretold
        self.lead += other.lead

    def own_bins(self) -> None:
        """Have bins that may be changed."""
        if self.counts is _EMPTY:  # most subscriptions of many have few outcomes or none
            self.counts, self.hits, self.said = [0] * BINS, [0] * BINS, [0] * BINS

    def clear_bins(self) -> None:
        """Forget the bins, which are kept elsewhere now."""
        self.counts = self.hits = self.said = _EMPTY

    def is_used(self) -> bool:
        """Whether any sum is not 0. O(1)."""
        sums = (self.brier, self.log, self.true, self.false, self.censored, self.censored_notices, self.matches)
        return self.counts is not _EMPTY or any(sums)

    def worse_than_base(self) -> bool | None:
        """Whether always predicting the share of trues would have been better; None while too few outcomes are known.
        Within WORSE of each other none is. O(BINS)."""
        total, hits = sum(self.counts), sum(self.hits)
        if total < OUTCOMES_MIN:
            return None
        return (self.brier - WORSE * MILLIONTHS**2) * total > hits * (total - hits) * MILLIONTHS**2

    def measures(self) -> dict[str, Any]:
        """How good the predictions were, by name; null where nothing is known yet. O(BINS)."""
        total, hits = sum(self.counts), sum(self.hits)
        base = hits / total if total else 0.0
        brier = _ratio(self.brier, total * MILLIONTHS**2)
        base_brier = base * (1.0 - base)
        return {
            "predictions": total,
            "base_rate": _ratio(hits, total),
            "brier": brier,
            "brier_base": base_brier if total else None,
            "brier_skill": None if brier is None or base_brier == 0.0 else 1.0 - brier / base_brier,
            "log_loss": _ratio(self.log, total * MILLIONTHS),
            "log_loss_base": entropy(base) if total else None,
            "ece": expected_calibration_error(self.counts, self.hits, self.said) if total else None,
            "auc": area_under_curve(self.counts, self.hits),
        }

    def summary(self) -> dict[str, Any]:
        """The measures, and what became of notices, for people and JSON. O(BINS)."""
        notices = self.true + self.false
        return {
            **self.measures(),
            "censored": self.censored,
            "notices": notices + self.censored_notices,
            "precision": _ratio(self.true, notices),
            "recall": _ratio(self.foretold, self.matches),
            "lead": _ratio(self.lead, self.true),
        }

    def reliability(self) -> list[tuple[float, float, int]]:
        """(mean probability, share of trues, number) of each of SHOWN_BINS bins that is not empty."""
        found = []
        wide = BINS // SHOWN_BINS
        for begin in range(0, BINS, wide):
            count = sum(self.counts[begin : begin + wide])
            if count:
                said = sum(self.said[begin : begin + wide]) / (count * MILLIONTHS)
                found.append((said, sum(self.hits[begin : begin + wide]) / count, count))
        return found

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        columns: dict[str, Any] = {"counts": self.counts[:], "hits": self.hits[:], "said": self.said[:]}
        return columns | {name: getattr(self, name) for name in _SUMS}

    def check_invariants(self) -> None:
        """Raise AssertionError unless the sums can be those of predictions."""
        for count, hits, said in zip(self.counts, self.hits, self.said):
            assert 0 <= hits <= count
            assert 0 <= said <= count * MILLIONTHS
        assert 0 <= self.foretold <= self.matches


def load_calibration(data: Mapping[str, Any]) -> Calibration:
    """The calibration of a dump."""
    found = Calibration()
    found.counts, found.hits, found.said = list(data["counts"]), list(data["hits"]), list(data["said"])
    for name in _SUMS:
        setattr(found, name, data[name])
    return found


def bin_of(probability: float) -> i64:
    """The bin of a probability; bins hold their lower ends."""
    scaled = probability * BINS
    if scaled < 1.0:
        return 0
    if scaled >= BINS - 1:
        return BINS - 1
    return i64(scaled)


def millionths(probability: float) -> i64:
    """A probability as a whole number of millionths, the nearest."""
    scaled = probability * MILLIONTHS + 0.5
    if scaled < 1.0:
        return 0
    if scaled >= MILLIONTHS:
        return MILLIONTHS
    return i64(scaled)


def expected_calibration_error(counts: Sequence[int], hits: Sequence[int], said: Sequence[int]) -> float:
    """ECE over SHOWN_BINS bins: sum of |share of trues - mean probability|, weighted by number."""
    wide = BINS // SHOWN_BINS
    gaps = 0
    for begin in range(0, BINS, wide):
        end = begin + wide
        gaps += abs(MILLIONTHS * sum(hits[begin:end]) - sum(said[begin:end]))
    return gaps / (MILLIONTHS * max(sum(counts), 1))


def area_under_curve(counts: Sequence[int], hits: Sequence[int]) -> float | None:
    """The chance that a true has a higher bin than a false, ties counting half; None if either is missing."""
    trues, falses = sum(hits), sum(counts) - sum(hits)
    if not trues or not falses:
        return None
    below = 0
    doubled = 0
    for count, hit in zip(counts, hits):
        doubled += hit * (2 * below + count - hit)
        below += count - hit
    return doubled / (2 * trues * falses)


def entropy(rate: float) -> float:
    """The log loss of always saying `rate` where it is the share of trues, in nats."""
    return 0.0 if rate <= 0.0 or rate >= 1.0 else -rate * log(rate) - (1.0 - rate) * log(1.0 - rate)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
