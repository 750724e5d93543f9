"""`foretell train`: counts a model from a history on Spark, which the broker can load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .history_job import HistoryOption, PlanOption, check_foretelling, check_place, check_plan, history_job
from .loading import SubscriptionsArgument
from .spark_session import ConfOption, LogOption, MasterOption, spark_session


def train(
    subscriptions: SubscriptionsArgument,
    history: HistoryOption,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file of the model.", show_default=False)],
    model: Annotated[Path | None, typer.Option(metavar="FILE", help="Add to the counts of this file.")] = None,
    plan: PlanOption = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    spark_log: LogOption = None,
) -> None:
    """Count a model on Spark. It equals the model of a broker that has seen the same events."""
    job = history_job(subscriptions, history, model)
    check_foretelling(job, subscriptions, "to train")
    check_plan(job, plan, "counts")
    check_place(out)
    from spark_bridge.training import model_of
    from spark_bridge.training import train as trained

    from ..forecast.model_file import save_model

    with spark_session(master, conf, spark_log, "train") as spark:
        counts = trained(spark, job.history, job.subscriptions, model=job.model, plan=plan)
        found = model_of(counts, model=job.model)
    save_model(found, out)
