"""Law: everything that needs Spark, and nothing of the broker's kernel, storage or server: history in, models out.

What is named here is imported when it is asked for: `spark_bridge.history` is read and written without Spark, and who
only does that need not have it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .history.mapping import Columns, Files, Table
    from .history.prepared import History
    from .history.preparing import prepare
    from .output import publish_output, read_output
    from .source.registration import register

__all__ = ["Columns", "Files", "History", "Table", "prepare", "publish_output", "read_output", "register"]

_PLACES: Final = {
    "Columns": ".history.mapping",
    "Files": ".history.mapping",
    "History": ".history.prepared",
    "Table": ".history.mapping",
    "prepare": ".history.preparing",
    "publish_output": ".output",
    "read_output": ".output",
    "register": ".source.registration",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(place, __name__), name)
