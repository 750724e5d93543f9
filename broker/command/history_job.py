"""The input of `train` and `backtest`: subscriptions, a prepared history and a model.

All three are checked here, before Spark starts. Not here: sessions (spark_session), and the work itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, final

import typer

from .complaint import BadInput
from .loading import load_model
from .spark_session import require_spark

if TYPE_CHECKING:
    from spark_bridge.history.prepared import History
    from spark_bridge.plan.properties import Purpose
    from spark_bridge.subscriptions import Subscriptions

    from ..engine import Engine
    from ..forecast.model_file import Model

HistoryOption: TypeAlias = Annotated[
    Path, typer.Option(metavar="DIR", help="A history made by `foretell prepare`.", show_default=False)
]
PlanOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SCHEME", help="How the work is divided: key, slices, shards or 'slices x shards'."),
]


@final
@dataclass(frozen=True, slots=True)
class HistoryJob:
    """Checked subscriptions, history and model. `engine` has the subscriptions and the model, and no events."""

    subscriptions: Subscriptions
    engine: Engine
    history: History
    model: Model | None


def history_job(subscriptions: Path, history: Path, model: Path | None) -> HistoryJob:
    """Read all three.

    Raises OSError, and errors with their place: a wrong query, a history without events or with other streams, a model
    of another version of a subscription.
    """
    require_spark()
    from spark_bridge.history.prepared import History
    from spark_bridge.subscriptions import Subscriptions

    from ..forecast.model_file import load_model as read_model

    wanted = Subscriptions.read(subscriptions)
    engine = wanted.engine()
    events = History.open(history)
    events.check_streams(wanted.streams)
    if not events.rows:
        raise BadInput(f"{history}: expected events, found an empty history")
    known: Model | None = None
    if model is not None:
        load_model(engine, model)
        known = read_model(model)
    return HistoryJob(wanted, engine, events, known)


def check_foretelling(job: HistoryJob, subscriptions: Path, why: str) -> None:
    """Raise BadInput if no subscription has a forecast."""
    if not job.engine.program.forecasts.subscriptions:
        raise BadInput(f"{subscriptions}: expected a subscription with a forecast {why}, found none")


def check_plan(job: HistoryJob, plan: str | None, purpose: Purpose) -> None:
    """Raise DefinitionError if a scheme does not exist or would change the results."""
    if plan is not None:
        from spark_bridge.plan.choice import plan_for

        plan_for(job.subscriptions, purpose, scheme=plan)


def check_place(out: Path) -> None:
    """Raise BadInput if no file of that name can be made."""
    if out.is_dir():
        raise BadInput(f"{out}: expected a file, or a place for a new one, found a folder")
    if not out.absolute().parent.is_dir():
        raise BadInput(f"{out}: expected a folder that exists, found none of the name {out.parent}")
