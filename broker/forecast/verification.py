"""What became of one subscription's forecasts, and what follows from it.

Every prediction is held against what then happened, reported or not: those of a pattern that has begun, and apart from
them those right after a match. The latter only say that one match follows another, which is another question, and an
easy one; mixed, they make any forecast look better than it is.

Predictions that turn out to be worse than the base rate are not calibrated. Over a horizon in time they are withheld
then: where events come in bursts the times between them depend on each other, and the model does not know that.

Where that is asked for, probabilities are corrected by what became of earlier ones of the same kind. Issued
probabilities are verified; corrections are learnt from those before correction.

Here: from predictions to figures, of all keys. Not here: when a prediction is made (subscription), the figures
themselves (calibration), many horizons at once (judging).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from mypy_extensions import i64

from .calibration import Calibration, load_calibration
from .isotonic import Recalibration, load_recalibration
from .pending import AS_IT_IS, OpenPredictions, PredictionQueue, load_open_predictions
from .settings import Settings


@final
class Verification:
    """`calibration` is of patterns that have begun, and of all notices; `after_match` of what was predicted right after
    a match; `recalibration`, if that is asked for, likewise. `withheld`: how often nothing was reported because
    predictions are not calibrated."""

    def __init__(self, settings: Settings) -> None:
        self.calibration = Calibration()
        self.after_match = Calibration()
        self.open = OpenPredictions()
        self.recalibration: Recalibration | None = Recalibration() if settings.recalibrate else None
        self.recalibration_after_match: Recalibration | None = Recalibration() if settings.recalibrate else None
        self.withholds = settings.duration > 0 and not settings.uncalibrated
        self.withheld = 0

    def calibrated(self, after_match: bool) -> bool | None:
        """Whether forecasts in such a state are calibrated; None while too little is known. O(bins)."""
        worse = (self.after_match if after_match else self.calibration).worse_than_base()
        return None if worse is None else not worse

    def predict(self, queue: PredictionQueue, clock: int, computed: float, after_match: bool) -> float:
        """A prediction was computed; what is issued. O(1)."""
        issued = self.corrected(computed, after_match)
        queue.predict(clock, issued, after_match, AS_IT_IS if self.recalibration is None else computed)
        return issued

    def corrected(self, computed: float, after_match: bool) -> float:
        """What is issued where this was computed. O(1)."""
        found = self.recalibration_after_match if after_match else self.recalibration
        return computed if found is None else found.corrected(computed)

    def resolve(self, queue: PredictionQueue, over: i64, matched: bool) -> None:
        """Count predictions of the clock `over` or before as misses, and if the key has `matched`, the rest as hits.

        O(predictions that this resolves).
        """
        while queue.due(over):
            self._record(queue, False)
        while matched and len(queue) > 0:
            self._record(queue, True)

    def _record(self, queue: PredictionQueue, came: bool) -> None:
        after_match = queue.after_match()
        learning = self.recalibration_after_match if after_match else self.recalibration
        if learning is not None:
            learning.record(queue.uncorrected(), came)
        chance = queue.take()
        (self.after_match if after_match else self.calibration).record(chance, came)

    def close(self) -> None:
        """The end: what is open is censored."""
        begun, after_match = self.open.close()
        self.calibration.censored += begun
        self.after_match.censored += after_match

    def statistics(self) -> dict[str, Any]:
        """How good the forecasts were; `after_match`: those right after a match."""
        learnt = [each for each in (self.recalibration, self.recalibration_after_match) if each is not None]
        return {
            **self.calibration.summary(),
            "reliability": self.calibration.reliability(),
            "calibrated": self.calibrated(False),
            "after_match": {**self.after_match.measures(), "calibrated": self.calibrated(True)},
            "withheld": self.withheld,
            "corrected": any(each.correction is not None for each in learnt),
        }

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        own, after_match = self.recalibration, self.recalibration_after_match
        return {
            "pending": self.open.dump(),
            "calibration": [self.calibration.dump(), self.after_match.dump()],
            "withheld": self.withheld,
            **({"computed": None, "correction": None, "fit": None} if own is None else own.dump()),
            "after_match": None if after_match is None else after_match.dump(),
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """The verification of a dump. Raises KeyError, TypeError or ValueError for other data."""
        self.open = load_open_predictions(data["pending"])
        self.calibration, self.after_match = map(load_calibration, data["calibration"])
        self.withheld = data["withheld"]
        if data["computed"] is not None:
            self.recalibration = load_recalibration(data)
        if data["after_match"] is not None:
            self.recalibration_after_match = load_recalibration(data["after_match"])

    def check_invariants(self) -> None:
        """Raise AssertionError unless the sums can be those of predictions."""
        self.calibration.check_invariants()
        self.after_match.check_invariants()
