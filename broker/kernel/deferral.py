"""Decides which inputs must wait while a batch is in work, so that the state stays a fold over whole records.

A long batch is matched in pieces. The kernel handles an input between two pieces if it neither changes the results of
the rest of the batch nor makes a record whose effect depends on the batch. Every other input waits until the batch is
done. A request waits unless its row in the table of messages has `at_once`.
"""

from __future__ import annotations

from ..wire import ROW_OF
from .inputs_and_effects import Gone, Input, Received, Reconfigure


def must_be_deferred(given: Input) -> bool:
    """Whether the kernel would have to end the batch in work first. O(1)."""
    if isinstance(given, Received):
        return not ROW_OF[type(given.message)].at_once
    return isinstance(given, Gone | Reconfigure)
