"""Computes measures from integer histograms of judged forecasts, for all thresholds at once.

A histogram contains the counts of `broker.forecast.judging` for a group (a subscription, a context, a horizon): sums by
bucket of probability, which add up over cells, keys and contexts in any order. Cumulated from above they give, for each
threshold, how many forecasts exceeded it and how many of these came true. So precision and recall are exact at every
whole thousandth. The losses are exact, too, because each bucket knows how far its forecasts lie below its upper end.

Censored forecasts have no outcome: they are counted apart, and enter no measure. A measure without a denominator is
null: precision without a forecast over the threshold, recall without a match.

Here: arithmetic. Not here: judging (broker.forecast.judging), Spark (evaluate), events (task).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from broker.events import DefinitionError, shown
from broker.forecast.calibration import MILLIONTHS, area_under_curve, entropy
from broker.forecast.judging import BUCKETS, COLUMNS, JUDGED_HORIZON_MAX

Histogram: TypeAlias = Mapping[int, Sequence[int]]
"""The sums of each bucket, in the order of COLUMNS."""

BIN_BUCKETS: Final = BUCKETS // 20
"""Buckets of a bin of the reliability diagram, of which there are 20."""

MEASURES: Final = (
    ("predictions", "long"),  # with an outcome
    ("positives", "long"),  # predictions after which a match came
    ("censored", "long"),
    ("matches", "long"),
    ("base_rate", "double"),
    ("told", "long"),  # predictions over the threshold
    ("told_true", "long"),
    ("precision", "double"),
    ("recall", "double"),  # of the positives
    ("foretold", "long"),  # matches with a prediction over the threshold within the horizon before them
    ("match_recall", "double"),  # foretold, of the matches
    ("lead", "double"),  # mean events from the first such prediction to the match
    ("brier", "double"),  # this and the following: over all predictions, whatever the threshold
    ("brier_base", "double"),  # of always predicting the base rate
    ("brier_skill", "double"),
    ("log_loss", "double"),  # nats
    ("log_loss_base", "double"),
    ("ece", "double"),
    ("auc", "double"),
)
"""The columns that follow group, horizon and threshold, with Spark's names of their types."""

RELIABILITY: Final = (
    ("bin", "long"),
    ("said", "double"),  # mean probability
    ("came", "double"),  # share of positives
    ("predictions", "long"),
)


def thousandths(thresholds: Iterable[Any]) -> list[int]:
    """Thresholds as buckets. Raises DefinitionError unless each is a whole thousandth from 0 to less than 1."""
    found: list[int] = []
    for threshold in thresholds:
        wrong = isinstance(threshold, bool) or not isinstance(threshold, int | float)
        bucket = -1 if wrong or not 0.0 <= threshold < 1.0 else round(threshold * BUCKETS)
        if bucket < 0 or bucket == BUCKETS or abs(threshold * BUCKETS - bucket) > 1e-9:
            raise DefinitionError(
                f"expected thresholds of whole thousandths from 0 to less than 1, found {shown(threshold)}"
            )
        found.append(bucket)
    if not found:
        raise DefinitionError("expected at least one threshold, found none")
    return sorted(set(found))


def event_horizons(horizons: Iterable[Any]) -> list[int]:
    """Horizons in order, each once. Raises DefinitionError unless they are events, 1 to JUDGED_HORIZON_MAX."""
    found: set[int] = set()
    for horizon in horizons:
        whole = isinstance(horizon, int) and not isinstance(horizon, bool)
        if not whole or not 1 <= horizon <= JUDGED_HORIZON_MAX:
            raise DefinitionError(
                f"expected horizons of 1 to {JUDGED_HORIZON_MAX:,} events of the key, found {shown(horizon)}"
            )
        found.add(horizon)
    if not found:
        raise DefinitionError("expected at least one horizon, found none")
    return sorted(found)


def added(histograms: Iterable[Histogram]) -> dict[int, list[int]]:
    """The histogram of all of them together. O(buckets)."""
    found: dict[int, list[int]] = {}
    for histogram in histograms:
        for bucket, sums in histogram.items():
            own = found.setdefault(bucket, [0] * len(COLUMNS))
            for column, value in enumerate(sums):
                own[column] += value
    return found


def measures(histogram: Histogram, thresholds: Sequence[int]) -> list[tuple[Any, ...]]:
    """For each threshold, in thousandths, the values of MEASURES. O(BUCKETS + thresholds)."""
    by_name = {name: [0] * (BUCKETS + 1) for name in COLUMNS}
    for bucket, sums in histogram.items():
        for name, value in zip(COLUMNS, sums, strict=True):
            by_name[name][bucket] = value
    hits = by_name["hits"]
    counts = [hit + miss for hit, miss in zip(hits, by_name["misses"])]
    predictions, positives = sum(counts), sum(hits)
    censored, matches = sum(by_name["censored"]), sum(by_name["matches"])
    base = positives / predictions if predictions else None
    above = {
        name: _exceeding(column)
        for name, column in (
            ("told", counts),
            ("true", hits),
            ("foretold", by_name["foretold"]),
            ("lead", by_name["lead"]),
        )
    }
    overall = _overall(by_name, counts, predictions, base)
    found: list[tuple[Any, ...]] = []
    for threshold in thresholds:
        told, true = above["told"][threshold], above["true"][threshold]
        foretold = above["foretold"][threshold]
        found.append(
            (
                predictions,
                positives,
                censored,
                matches,
                base,
                told,
                true,
                _ratio(true, told),
                _ratio(true, positives),
                foretold,
                _ratio(foretold, matches),
                _ratio(above["lead"][threshold], foretold),
                *overall,
            )
        )
    return found


def reliability(histogram: Histogram) -> list[tuple[int, float, float, int]]:
    """The values of RELIABILITY, for each of 20 bins that is not empty. O(buckets)."""
    hits, counts, said = [0] * 20, [0] * 20, [0] * 20
    for bucket, sums in histogram.items():
        values = dict(zip(COLUMNS, sums, strict=True))
        place, own = bin_of(bucket), values["hits"] + values["misses"]
        hits[place] += values["hits"]
        counts[place] += own
        said[place] += own * _top(bucket) - values["hit_rest"] - values["miss_rest"]
    return [
        (place, said[place] / (MILLIONTHS * counts[place]), hits[place] / counts[place], counts[place])
        for place in range(20)
        if counts[place]
    ]


def bin_of(bucket: int) -> int:
    """The bin of a bucket in the reliability diagram. A bin includes its upper end; the first one also includes 0."""
    return (bucket - 1) // BIN_BUCKETS if bucket else 0


def _exceeding(column: Sequence[int]) -> list[int]:
    """For each bucket, the sum of the buckets above it."""
    found = [0] * len(column)
    for bucket in range(len(column) - 2, -1, -1):
        found[bucket] = found[bucket + 1] + column[bucket + 1]
    return found


def _overall(
    by_name: Mapping[str, Sequence[int]], counts: Sequence[int], predictions: int, base: float | None
) -> tuple[float | None, ...]:
    """The measures that do not depend on a threshold: the last seven of MEASURES."""
    if base is None:
        return (None,) * 7
    squared = 0  # millionths squared
    gaps = [0] * 20
    for bucket, count in enumerate(counts):
        if not count:
            continue
        hits, top = by_name["hits"][bucket], _top(bucket)
        hit_rest, rest = by_name["hit_rest"][bucket], by_name["hit_rest"][bucket] + by_name["miss_rest"][bucket]
        said = count * top - rest
        squared += count * top * top - 2 * top * rest + by_name["squares"][bucket]
        squared += hits * MILLIONTHS**2 - 2 * MILLIONTHS * (hits * top - hit_rest)
        gaps[bin_of(bucket)] += hits * MILLIONTHS - said
    brier, brier_base = squared / (predictions * MILLIONTHS**2), base * (1.0 - base)
    return (
        brier,
        brier_base,
        1.0 - brier / brier_base if brier_base else None,
        sum(by_name["surprise"]) / (predictions * MILLIONTHS),
        entropy(base),
        sum(abs(gap) for gap in gaps) / (predictions * MILLIONTHS),
        area_under_curve(counts, by_name["hits"]),
    )


def _top(bucket: int) -> int:
    """The upper end of a bucket in millionths."""
    return bucket * (MILLIONTHS // BUCKETS)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
