"""A digest of an engine's snapshot that does not depend on the order of its entries.

The engine stores runs by key, and in order within each key's cell. The order of the keys depends on which came first,
affects no result, and is lost in a snapshot. So the digest treats runs as a bag, each with its rows. It does not cover
forecasts, which are listed by key as well, and refer to runs by their numbers in that list.
"""

from __future__ import annotations

from typing import Any

import msgpack

from .checkpoint import digest

_ROW, _SLOTS = 1, 2  # the fields of a run that refer to rows by number


def engine_digest(snapshot: bytes) -> bytes:
    """32 bytes, equal for engines that will find the same matches. O(n log n) for n runs."""
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
