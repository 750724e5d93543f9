"""Why a result came, and why another did not: read from a second run of the events, whose partial matches can be seen.

An engine keeps no events and no reasons, so that they cost nothing unless somebody asks, who brings the events.
"""

from __future__ import annotations

from .explaining import AskedInput
from .matched import why
from .told import Why, WhyNot
from .unmatched import why_not

__all__ = ["AskedInput", "Why", "WhyNot", "why", "why_not"]
