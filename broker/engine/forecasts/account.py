"""The account of one subscription's forecasts: what was predicted, what became of it, and what is done about it.

Every prediction is held against what then happened, told or not: those of a pattern that has begun, and apart from
them those right after a match. The latter only say that one match follows another, which is another question, and an
easy one; mixed, they make any forecast look better than it is.

Predictions that turn out to be worse than the base rate are not calibrated. Over a horizon in time they are withheld
then: where events come in bursts the times between them have to do with each other, and the model does not know that.

Where that is asked for, probabilities are corrected by what became of earlier ones, and drift is watched. What is
judged is what was said; beside it, what was computed before it was corrected.

Here: from predictions to figures, of all keys. Not here: when a prediction is made (outlook), the figures themselves
(broker.forecast.calibration).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any, Final, final

from mypy_extensions import i64

from ...forecast.calibration import Calibration, load_calibration
from ...forecast.drift import Drift, load_drift
from ...forecast.isotonic import OUTCOMES_MIN, Correction, fitted, load_correction
from ...forecast.pending import Pending, Queue, load_pending
from .settings import Settings
from .track import Track

REFIT: Final = 1.1
"""A correction is fitted again when that many times the outcomes are known."""
CHANCE_MIN: Final = 1e-9
"""The least chance that a log loss is taken of."""


@final
class Account:
    """`calibration` is of patterns that have begun, and of all notices; `after_match` of what was predicted right after
    a match. `drifted`: the half-life is another one since somebody looked. `withheld`: how often nothing was told
    because predictions are not calibrated."""

    def __init__(self, settings: Settings) -> None:
        self.calibration = Calibration()
        self.after_match = Calibration()
        self.pending = Pending()
        self.computed: Calibration | None = Calibration() if settings.recalibrate else None
        self.computed_pending = Pending()
        self.correction: Correction | None = None
        self.outcomes = 0  # of what was computed
        self.fit_at: int = OUTCOMES_MIN
        self.drift: Drift | None = Drift() if settings.drift else None
        self.drifted = False
        self.withholds = settings.duration > 0 and not settings.uncalibrated
        self.withheld = 0

    def calibrated(self, after_match: bool) -> bool | None:
        """Whether what is said in such a state is calibrated; None while too little is known. O(bins)."""
        worse = (self.after_match if after_match else self.calibration).worse_than_base()
        return None if worse is None else not worse

    def predict(self, track: Track, clock: int, computed: float, after_match: bool) -> float:
        """A prediction was computed; what is said of it. O(1), with a correction O(log bins)."""
        said = self.corrected(computed)
        track.queue.predict(clock, said, after_match)
        if self.computed is not None:
            track.computed.predict(clock, computed)
        return said

    def corrected(self, chance: float) -> float:
        """What is said where this was computed."""
        return chance if self.correction is None else self.correction.corrected(chance)

    def resolve(self, track: Track, over: i64, matched: bool) -> None:
        """What was predicted at the clock `over` or before has not come true; if the key has `matched`, the rest has.

        O(predictions that this resolves).
        """
        queue = track.queue
        while queue.due(over):
            self._record(queue, False)
        while matched and len(queue) > 0:
            self._record(queue, True)
        if self.computed is not None:
            self._resolve_computed(track.computed, self.computed, over, matched)

    def _resolve_computed(self, queue: Queue, computed: Calibration, over: i64, matched: bool) -> None:
        """The same for what was computed; a new correction now and then."""
        while queue.due(over):
            computed.record(queue.take(), False)
            self.outcomes += 1
        while matched and len(queue) > 0:
            computed.record(queue.take(), True)
            self.outcomes += 1
        if self.outcomes >= self.fit_at:
            self.fit_at = int(self.outcomes * REFIT) + 1
            self.correction = fitted(computed.counts, computed.hits)

    def _record(self, queue: Queue, came: bool) -> None:
        account = self.after_match if queue.after_match() else self.calibration
        chance = queue.take()
        account.record(chance, came)
        drift = self.drift
        if drift is not None and drift.observe(-log(max(chance if came else 1.0 - chance, CHANCE_MIN))):
            self.drifted = True

    def close(self) -> None:
        """The end: of what is open nothing will be known."""
        self.calibration.censored += self.pending.close()
        self.computed_pending.close()

    def statistics(self) -> dict[str, Any]:
        """How good the forecasts were; `after_match`: those right after a match."""
        return {
            **self.calibration.summary(),
            "reliability": self.calibration.reliability(),
            "calibrated": self.calibrated(False),
            "after_match": {**self.after_match.measures(), "calibrated": self.calibrated(True)},
            "withheld": self.withheld,
            "corrected": self.correction is not None,
            "drift_alarms": 0 if self.drift is None else self.drift.alarms,
        }

    def dump(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "pending": [self.pending.dump(), self.computed_pending.dump()],
            "calibration": [self.calibration.dump(), self.after_match.dump()],
            "withheld": self.withheld,
            "computed": None if self.computed is None else self.computed.dump(),
            "correction": None if self.correction is None else self.correction.dump(),
            "fit": [self.outcomes, self.fit_at],
            "drift": None if self.drift is None else self.drift.dump(),
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """What was dumped. Raises KeyError, TypeError or ValueError for other data."""
        self.pending, self.computed_pending = map(load_pending, data["pending"])
        self.calibration, self.after_match = map(load_calibration, data["calibration"])
        self.withheld = data["withheld"]
        self.computed = None if data["computed"] is None else load_calibration(data["computed"])
        self.correction = None if data["correction"] is None else load_correction(data["correction"])
        self.outcomes, self.fit_at = data["fit"]
        self.drift = None if data["drift"] is None else load_drift(data["drift"])

    def check_invariants(self) -> None:
        """Raise AssertionError unless the sums can be those of predictions."""
        assert not self.drifted
        self.calibration.check_invariants()
        self.after_match.check_invariants()
