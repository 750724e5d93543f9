"""An engine as bytes and back: all state on which later results depend, in a form that any later process can restore.

The program is not saved: it is built again from the subscriptions' text. The state is saved in sections, each with a
name and a version of its own. A section that this version does not know is refused, never misread. Restoring evaluates
no code.

Here: sections, their table, and older forms. Not here: files, the time of a snapshot (broker.storage).
"""

from __future__ import annotations

from .codec import restore, save
from .state import EngineState

__all__ = ["EngineState", "restore", "save"]
