"""Why a result came, and why another did not: read from the reference executor, which runs the events again.

An engine keeps no events and no reasons, so that they cost nothing unless somebody asks, who brings the events.
"""

from __future__ import annotations

from .matched import Why, why
from .unmatched import WhyNot, why_not

__all__ = ["Why", "WhyNot", "why", "why_not"]
