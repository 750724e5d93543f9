"""A predictive subscription in the engine: turns its forecaster's reports into notices for the subscriber.

Here: notices. Not here: when a forecast is reported (broker.forecast.subscription), the state of its keys (progress).
"""

from __future__ import annotations

from typing import Any, NamedTuple, final

from ...events.schema import Schema
from ...forecast.forecaster import Forecaster
from ...forecast.key_state import KeyState
from ...forecast.keyed_stream import KeyedStream
from ...forecast.model_form import ModelForm
from ...forecast.notifying import IssuedForecast, ResolvedForecast
from ...forecast.plan import ForecastPlan
from ...forecast.progress import Progress
from ...forecast.states import States
from ...forecast.subscription import SubscriptionForecaster
from ..notices import Forecast, Notice, Resolution
from ..program.target import Outcome, Target
from ..program.watcher import Watcher
from ..subscribing.subscriber import Subscriber, digest


class FollowedKeys(NamedTuple):
    """The stream whose keys are followed, and where each of them is."""

    stream: KeyedStream
    progress: Progress


@final
class PredictiveSubscription(SubscriptionForecaster):
    """`plan`: the compiled forecast; `notices`: those that are not collected yet.

    `listener`: receives the reports of its runs, or its machine.
    """

    def __init__(
        self,
        number: int,
        since: int,
        subscriber: Subscriber,
        plan: ForecastPlan,
        version: str,
        forecaster: Forecaster | ModelForm,
        followed: FollowedKeys,
        deadlines: list[tuple[int, int]],
    ) -> None:
        identity, (stream, progress) = subscriber.identity(), followed
        super().__init__(number, since, identity, plan.settings, version, forecaster, stream, progress, deadlines)
        self.subscriber = subscriber
        self.plan = plan
        self.states: States = plan.states
        self.target = Target(Outcome((), ()), subscriber)
        self.notices: list[Notice] = []
        self.listener: Watcher | None = None

    def counted(self) -> Schema:
        """The schema of the first stream whose events it counts."""
        schema = dict(self.subscriber.form.sources)[self.plan.positions[0][0]]
        assert schema is not None
        return schema

    def report(
        self,
        issued: IssuedForecast,
        probability: float,
        interval: tuple[float, float],
        bounds: tuple[float, float] | None,
        calibrated: bool | None,
        label: str,
        state: KeyState | None,
    ) -> None:
        within: Any = self.settings.written["within"]
        lineage: list[int] | None = None
        if self.subscriber.lineage is not False and state is not None:
            lineage = self.progress.lineage(state, self.stream.row, self.stream.time)
        self.notices.append(
            Forecast(
                issued.id,
                issued.time,
                probability,
                within,
                issued.state,
                label,
                issued.run,
                interval,
                lineage,
                bounds,
                calibrated,
            )
        )

    def report_outcome(self, resolved: ResolvedForecast, time: int) -> None:
        issued = resolved.forecast
        identity = digest(f"{self.subscriber.identity()}resolution\0{issued.id}", 0, 0)
        self.notices.append(Resolution(identity, time, issued.id, resolved.outcome, issued.run, resolved.lead))

    def seat(self) -> None:
        if self.listener is not None:
            self.listener.seat(self.page, self.slot)

    def has_notices(self) -> bool:
        return len(self.notices) > 0
