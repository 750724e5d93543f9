"""Everything that needs Spark: history in, results and models out. It uses no kernel, storage or server of the broker.

The names of this package are imported when they are first used, because `spark_bridge.history` reads and writes history
without Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .backtesting import backtest
    from .evaluation.evaluate import evaluate, histograms, measured, reliability_of
    from .history.mapping import Columns, Files, Table
    from .history.prepared import History
    from .history.preparing import prepare
    from .output import publish_output, read_output
    from .plan.choice import explain_plan, plan_for
    from .source.registration import register
    from .subscriptions import Subscriptions
    from .training import model_of, train

__all__ = [
    "Columns",
    "Files",
    "History",
    "Subscriptions",
    "Table",
    "backtest",
    "evaluate",
    "explain_plan",
    "histograms",
    "measured",
    "model_of",
    "plan_for",
    "prepare",
    "publish_output",
    "read_output",
    "register",
    "reliability_of",
    "train",
]

_PLACES: Final = {
    "Columns": ".history.mapping",
    "Files": ".history.mapping",
    "History": ".history.prepared",
    "Subscriptions": ".subscriptions",
    "Table": ".history.mapping",
    "backtest": ".backtesting",
    "evaluate": ".evaluation.evaluate",
    "explain_plan": ".plan.choice",
    "histograms": ".evaluation.evaluate",
    "measured": ".evaluation.evaluate",
    "model_of": ".training",
    "plan_for": ".plan.choice",
    "prepare": ".history.preparing",
    "publish_output": ".output",
    "read_output": ".output",
    "register": ".source.registration",
    "reliability_of": ".evaluation.evaluate",
    "train": ".training",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(place, __name__), name)
