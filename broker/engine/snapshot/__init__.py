"""An engine as bytes and back: everything that later results depend on, in a form that any later process can restore.

The program is not saved: it is built again from the subscriptions' text. What is saved is in sections, each with a name
and a version of its own; a section that this version does not know is refused, never misread. Nothing is evaluated.

Here: sections, their table, and older forms. Not here: files, when to take one (broker.storage).
"""

from __future__ import annotations

from .codec import is_older, restore, save
from .state import EngineState

__all__ = ["EngineState", "is_older", "restore", "save"]
