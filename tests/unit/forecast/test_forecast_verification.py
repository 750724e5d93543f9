"""What was issued is verified, what was computed is learnt from; forecasts right after a match are kept apart."""

from __future__ import annotations

import json
from typing import Any

from broker.events.schema import Attribute, Schema
from broker.forecast.isotonic import OUTCOMES_MIN
from broker.forecast.settings import read_settings
from broker.forecast.verification import Verification


def verification(**written: Any) -> Verification:
    return Verification(read_settings({"within": 1, **written}, Schema((Attribute("v", "int"),)), None))


def taught(times: int) -> Verification:
    """A half was predicted each time: of patterns that had begun nothing came, after a match a match."""
    found = verification(recalibrate=True)
    queue = found.open.of("k")
    for clock in range(times):
        for after_match in (False, True):
            found.predict(queue, clock, 0.5, after_match)
            found.resolve(queue, -1 if after_match else clock, after_match)
    return found


def test_corrections_are_learnt_from_states_of_the_same_kind() -> None:
    found = taught(OUTCOMES_MIN)
    assert found.corrected(0.5, False) == 0.0
    assert found.corrected(0.5, True) == 1.0


def test_they_outlive_a_snapshot() -> None:
    found = taught(OUTCOMES_MIN)
    found.predict(found.open.of("k"), 999, 0.25, True)
    other = verification(recalibrate=True)
    other.load(json.loads(json.dumps(found.dump())))
    assert other.dump() == found.dump()
    assert other.corrected(0.5, True) == 1.0
    assert other.open.of("k").uncorrected() == 0.25


def test_what_is_open_at_the_end_is_censored_by_kind() -> None:
    found = verification()
    queue = found.open.of("k")
    for after_match in (False, True, True):
        found.predict(queue, 1, 0.5, after_match)
    found.close()
    assert (found.calibration.censored, found.after_match.censored) == (1, 2)
