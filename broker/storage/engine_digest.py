"""A digest of an engine's snapshot that does not depend on the order of its entries.

Runs lie in the engine by key, and in each key's cell in order; in which order the keys are listed depends on which came
first, and that is forgotten by a snapshot. It changes no result. So the digest takes runs as a bag, each with its rows.
Forecasts are not in it: they are listed by key as well, and refer to runs by the numbers of that listing.
"""

from __future__ import annotations

from typing import Any

import msgpack

from .checkpoint import digest

_ROW, _SLOTS = 1, 2  # of a run's fields, those that name rows by their numbers


def engine_digest(snapshot: bytes) -> bytes:
    """32 bytes, equal for engines that will find the same matches. O(n log n) of its runs."""
    content: dict[str, Any] = msgpack.unpackb(snapshot, strict_map_key=False, use_list=True)
    sections: dict[str, Any] = content.get("sections", content)
    sections.pop("forecasts", None)
    keyed = content if sections is content else sections.pop("keyed runs")[1]
    rows: list[Any] = keyed.pop("rows")
    runs: list[bytes] = []
    for run in keyed.pop("runs"):
        run[_ROW] = rows[run[_ROW]]
        run[_SLOTS] = [[rows[slot[0]]] if type(slot) is list else slot for slot in run[_SLOTS]]
        runs.append(msgpack.packb(run))
    return digest(msgpack.packb(content), *sorted(runs))
