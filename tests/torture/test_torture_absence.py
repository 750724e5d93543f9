"""Absence is told soon after its moment, also for many keys at once and beside other events. The long form is
torture.absence, which prints figures.
"""

from __future__ import annotations

import pytest
from torture.absence import measure

SOON_MILLISECONDS = 100
MACHINE_BUSY = 5  # other tests run at the same time; the figures that count are those of the long form


@pytest.mark.parametrize("rate", [0, 2_000])
def test_absence_is_told_soon(rate: int) -> None:
    late = measure(1_000, rate)
    assert late[0] >= 0
    assert late[len(late) // 2] < MACHINE_BUSY * SOON_MILLISECONDS
