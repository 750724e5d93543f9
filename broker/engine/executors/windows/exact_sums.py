"""Exact sums of floats by differences: the double nearest to the exact sum of any suffix of the values so far.

A prefix sum is kept as the unevaluated sum of two floats (double-double, Dekker 1971), which is precise to about 106
bits. The sum of a suffix is the difference of two prefix sums; where the error of these could change the rounding, the
answer is no float, and the caller adds the values up exactly. So equal windows have equal sums, wherever the stream
began.

Here: the sum of a suffix. Hot. Not here: prefix sums, and how a value is added to one (measures).
"""

from __future__ import annotations

from typing import Final

UNCERTAIN: Final = float("nan")
"""Instead of a sum: only adding the values up tells."""
RELATIVE_ERROR: Final = 2.0**-100
"""Of one addition to a prefix sum, relative to the greatest prefix sum: far more than there is (Joldes 2017)."""


def between(
    high: float, low: float, earlier_high: float, earlier_low: float, additions: float, greatest: float
) -> float:
    """The sum of the values between two prefix sums, or UNCERTAIN.

    `additions`: how many values the later prefix sum has; `greatest`: the greatest magnitude that it has had.
    """
    total = high - earlier_high
    part = total - high
    error = (high - (total - part)) - (earlier_high + part)
    rest = error + (low - earlier_low)
    bound = (additions + 4.0) * greatest * RELATIVE_ERROR
    least, most = total + (rest - bound), total + (rest + bound)
    return least if least == most else UNCERTAIN
