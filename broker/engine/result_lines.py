"""The results of a batch for those who send them: of each its subscription, whether it is withdrawn, and its line.

Here: choosing the form from which lines are made. Not here: a match's own line (match), rows of numbers (run_rows).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .results import Results


def light(results: Iterable[Any]) -> Iterable[Any]:
    """The same results in the same order, of which nobody reads more: of most batches no match is made. O(results)."""
    # A compiled class under Sequence accepts every sequence as an instance.
    rows = results.run_rows(frozenset()) if type(results) is Results else None
    return results if rows is None else rows.each()
