"""`foretell backtest`: matches, forecasts and resolutions of a history, or measures of its forecasts, as Parquet."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .. import __version__
from .complaint import BadInput
from .history_job import HistoryJob, HistoryOption, PlanOption, check_foretelling, check_plan, history_job
from .loading import ModelOption, SubscriptionsArgument
from .spark_session import ConfOption, LogOption, MasterOption, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_bridge.plan.properties import Purpose

THRESHOLDS: Final = ",".join(str(round(0.05 * step, 2)) for step in range(1, 20))
_LOCAL: Final = re.compile(r"local\[(\d+)")


def backtest(
    subscriptions: SubscriptionsArgument,
    history: HistoryOption,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder of the results.")] = None,
    model: ModelOption = None,
    plan: PlanOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Only show how the work is divided, and why.")] = False,
    evaluate: Annotated[
        str | None,
        typer.Option(metavar="HORIZONS", help="Evaluate forecasts over these numbers of events: '1,5,10'."),
    ] = None,
    thresholds: Annotated[
        str, typer.Option(metavar="LIST", help="With --evaluate: thresholds in whole thousandths.")
    ] = THRESHOLDS,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="With --evaluate: use the model without further learning.")
    ] = False,
    master: MasterOption = None,
    conf: ConfOption = None,
    spark_log: LogOption = None,
) -> None:
    """Match a history on Spark: every match, forecast and resolution that the broker would have sent."""
    job = history_job(subscriptions, history, model)
    asked = {} if evaluate is None else _asked(job, subscriptions, evaluate, thresholds, frozen)
    purpose: Purpose = "counts" if frozen and evaluate is not None else "results"
    if explain:
        _explain(job, plan, master, purpose)
        return
    check_plan(job, plan, purpose)
    if out is None:
        raise BadInput("--out: expected the folder of the results, found none")
    from spark_bridge.history.manifest import digest_of_bytes
    from spark_bridge.output import publish_output, published, run_digest
    from spark_bridge.publication import current_run

    from ..forecast.model_file import write_model

    known = None if job.model is None else digest_of_bytes(write_model(job.model).encode())
    about = {
        "version": __version__,
        "history": job.history.digest,
        "subscriptions": job.subscriptions.digest,
        "model": known,
        **asked,
    }
    digest = run_digest(about)
    if published(out, digest):
        typer.echo(current_run(out.absolute()))
        return
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: expected a folder, or a place for a new one, found a file")
    with spark_session(master, conf, spark_log, "backtest") as spark:
        tables = _results(spark, job, plan) if evaluate is None else _measures(spark, job, plan, asked)
        typer.echo(publish_output(tables, out, digest, about))


def _asked(job: HistoryJob, subscriptions: Path, evaluate: str, thresholds: str, frozen: bool) -> dict[str, Any]:
    """Check the options that belong to --evaluate, and return the evaluation that they ask for."""
    from spark_bridge.evaluation.measures import event_horizons
    from spark_bridge.evaluation.measures import thousandths as whole

    check_foretelling(job, subscriptions, "for --evaluate")
    if frozen and job.model is None:
        raise BadInput("--frozen: expected a --model to evaluate as it stands, found none")
    horizons = event_horizons(_numbers("--evaluate", evaluate, int))
    job.engine.program.forecasts.judge(horizons)
    wanted = [bucket / 1000 for bucket in whole(_numbers("--thresholds", thresholds, float))]
    return {"horizons": horizons, "thresholds": wanted, "frozen": frozen}


def _numbers(option: str, text: str, kind: type[int] | type[float]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"{option}: expected numbers with commas between, found {text!r}") from None


def _explain(job: HistoryJob, plan: str | None, master: str | None, purpose: Purpose) -> None:
    from spark_bridge.plan.choice import explain_plan, plan_for

    local = _LOCAL.match(master or "")
    parallelism = int(local.group(1)) if local else os.cpu_count() or 1
    found = plan_for(job.subscriptions, purpose, scheme=plan, parallelism=parallelism)
    for line in explain_plan(found):
        typer.echo(line)


def _results(spark: SparkSession, job: HistoryJob, plan: str | None) -> dict[str, DataFrame]:
    from spark_bridge.backtesting import backtest as results

    return {"results": results(spark, job.history, job.subscriptions, model=job.model, plan=plan)}


def _measures(spark: SparkSession, job: HistoryJob, plan: str | None, asked: dict[str, Any]) -> dict[str, DataFrame]:
    """Compute the histograms once, and the small tables that follow from them."""
    from spark_bridge.evaluation.evaluate import histograms, measured, reliability_of

    counted = histograms(
        spark,
        job.history,
        job.subscriptions,
        model=job.model,
        horizons=asked["horizons"],
        learn=not asked["frozen"],
        plan=plan,
    ).persist()
    return {
        "histograms": counted,
        "measures": measured(counted, asked["thresholds"]),
        "reliability": reliability_of(counted),
    }
