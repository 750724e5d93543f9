"""Which inputs must wait while a batch is in work, so that the state stays a fold over whole records.

A batch that takes long is matched in pieces, and what comes in between is handled at once, if it neither changes what
the rest of the batch will find nor leaves a record whose effect depends on the batch. Everything else waits until the
batch is through; in doubt, also what may be added one day.
"""

from __future__ import annotations

from ..wire import ROW_OF
from .inputs_and_effects import Gone, Input, Received, Reconfigure


def must_be_deferred(given: Input) -> bool:
    """Whether the kernel would have to end the batch in work first. O(1)."""
    if isinstance(given, Received):
        return not ROW_OF[type(given.message)].at_once
    return isinstance(given, Gone | Reconfigure)
