"""The questions to an engine: its streams and subscriptions, how far time has come, forecasts, and explanations.

Here: the part of the public interface that changes nothing. Not here: the parts of an engine (parts), what changes them
(engine).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ...automaton.diagram import Graph
from ...events import instant
from ...events.errors import UnknownSubscription
from ...events.nearest import suggestion
from ...events.schema import Schema
from ...events.stream import StreamDefinition
from ...forecast.asking import Probability, probability_of
from ...forecast.explanation import chain_diagram
from ...forecast.model_file import Model
from ...language.names import DEFAULT_LANGUAGE
from ...language.subscription import SubscriptionDefinition
from ..disorder.looking import HeldStream, held_back
from ..dispatch.punctuation import newest
from ..dispatch.time_order import horizon_in
from ..forecasts.subscription import PredictiveSubscription
from ..parts import EngineParts
from ..subscribing.holdings import Definitions
from ..subscribing.replacing import says
from ..subscribing.subscriber import Subscriber
from .explanation import diagram, explain, live, sharing
from .sharing import MachinesSeen, company_of, machines
from .waiting import RunsSeen, waiting_runs
from .warning import warnings_of, warnings_of_waiting

END_OF_TIME: Final = instant.FOREVER  # later than any event and any end of a window


class EngineView(EngineParts):
    """The questions to an engine."""

    # --- what there is ------------------------------------------------------------------------------------------

    @property
    def streams(self) -> Mapping[str, StreamDefinition]:
        """Declared streams by name."""
        return MappingProxyType(self.catalog.streams)

    @property
    def subscriptions(self) -> Mapping[str, SubscriptionDefinition]:
        """Active subscriptions by name, in order of registration."""
        return Definitions(self.catalog.subscriptions)

    @property
    def published(self) -> Mapping[str, Schema]:
        """The schemas of streams that subscriptions publish, by name."""
        return {name: p.schema for name, p in self.catalog.published.items()}

    @property
    def due(self) -> int | None:
        """A punctuation behind this time reports results that wait for it, or makes events final. None: none wait."""
        return min([moment for _, moment in self.dues], default=None)

    @property
    def dues(self) -> Sequence[tuple[Sequence[str] | None, int]]:
        """Such a time for each order in which something waits, with its streams; None: all share one."""
        if self.disorder is not None:
            return self.disorder.due()
        moment = min(int(self.program.machines.clock.next), horizon_in(self.program.forecasts.deadlines))
        return [] if moment >= END_OF_TIME else [(None, moment)]

    def accepts_from(self, stream: str) -> int | None:
        """The time before which an event of a stream is late; None: no event is late."""
        return newest(self.runtime) if self.disorder is None else self.disorder.floor(stream)

    @property
    def reported_until(self) -> int | None:
        """The time before which later calls give no results; FOREVER if results are not in the order of time."""
        return self.now if self.disorder is None else self.disorder.reported_until

    # --- forecasts --------------------------------------------------------------------------------------------------

    def forecasts(self, name: str) -> PredictiveSubscription:
        """The forecasts of a subscription, for reading. Raises UnknownSubscription if it has none."""
        return self.program.forecasts.subscription(name)

    def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """The probability that the next match of one key comes within a horizon, by default the subscription's own.
        `key`: its value, or a list of several. Changes nothing. Raises UnknownSubscription, DefinitionError."""
        own = self.forecasts(name)
        return probability_of(own, own.plan, own.counted(), key, within)

    def model(self) -> Model:
        """The counts of all predictive subscriptions, and those that were loaded. O(counts); changes nothing."""
        return self.program.forecasts.model()

    def languages(self, names: Sequence[str]) -> list[str]:
        """The language of each of these subscriptions, "" for one that there is not. O(names), without their texts."""
        known = self.catalog.subscriptions
        return [known[name].form.language if name in known else "" for name in names]

    # --- inspection -------------------------------------------------------------------------------------------------

    def partial_matches(self, name: str, most: int = 1_000) -> list[dict[str, list[int]]]:
        """At most `most` partial matches of a subscription: ids of events by operand. A subscription that reports
        completions only shows a few. Partial matches that time has ruled out may still be among them. Raises
        UnknownSubscription, and Unsupported if the executor keeps none."""
        self._known(name)
        return self.program.machines.partial(name, 0 if self.now is None else self.now, most)

    def waiting_runs(self, name: str, most: int = 1_000, listed: int = 50) -> RunsSeen:
        """The oldest partial matches of a subscription and how many wait in each state, from a look at up to `most`.
        Partial matches that time has ruled out may still be among them. Raises UnknownSubscription."""
        self._known(name)
        now = 0 if self.now is None else self.now
        return waiting_runs(self.catalog, self.program, self.disorder, self.runtime.runs, name, now, most, listed)

    def warnings(self, query: str, language: str = DEFAULT_LANGUAGE, alike: set[Any] | None = None) -> list[str]:
        """What is right in a text, but probably not meant, each with its line and column. O(text); changes nothing.
        `alike`: nothing is said of a text that differs from an earlier one with this set in literals only, which are in
        the same order; that costs some microseconds."""
        return list(map(str, warnings_of(self.catalog, SubscriptionDefinition("warned", language, query), alike)))

    def warnings_of_streams(self, name: str, stamped: Collection[str] | None = None) -> list[str]:
        """Streams that keep a subscription from telling what waits for time to pass; `stamped`: whose publishers give
        times, None if that is not known. Raises UnknownSubscription. O(streams)."""
        return warnings_of_waiting(self.catalog, self.disorder, self._known(name), stamped)

    def held_back(self, name: str | None = None) -> list[HeldStream]:
        """The streams that others wait for; `name`: that which a subscription waits for. Raises UnknownSubscription.
        O(streams)."""
        subscriber = None if name is None else self._known(name)
        if self.disorder is None:
            return []
        orders = self.disorder.orders
        orders.follow()
        asked = orders.all if subscriber is None else [orders.of_subscriber(subscriber)]
        return [held for held in map(held_back, asked) if held is not None]

    def says(self, name: str, query: str) -> bool:
        """Whether a text says what a subscription does since its arcs were updated. Raises UnknownSubscription."""
        return says(self.catalog, self._known(name), query)

    def diagram(self) -> Graph:
        """The merged automata, as data for a diagram."""
        return diagram(self.catalog, self.program, self.disorder)

    def chains(self) -> Graph:
        """The chains of predictive subscriptions with their probabilities, as data for a diagram."""
        return chain_diagram(self.program.forecasts.unpacked())

    def explain(self) -> list[str]:
        """The compiled form of the subscriptions, one line each."""
        return explain(self.catalog, self.program, self.disorder)

    def sharing(self, name: str) -> list[str]:
        """How one subscription runs now, and what it shares with others, one line each. Raises UnknownSubscription.
        O(runs of its machine)."""
        self._known(name)
        return sharing(self.catalog, self.program, self.disorder, name)

    def machines(self, most: int = 30, looked: int = 20_000) -> MachinesSeen:
        """The machines that run most subscriptions, of so many that are looked at. O(looked)."""
        return machines(self.catalog, self.program, self.disorder, most, looked)

    def company(self, name: str) -> int:
        """How many subscriptions the machine of one runs, or parts of them; 0 if it has none. O(1)."""
        self._known(name)
        return company_of(self.catalog, self.program, name)

    def forecast_quality(self, name: str) -> dict[str, Any] | None:
        """What became of a subscription's forecasts; None if it asks for none. Raises UnknownSubscription."""
        self._known(name)
        if name not in self.program.forecasts.subscriptions:
            return None
        return self.program.forecasts.subscription(name).statistics()

    def live(self) -> list[str]:
        """How much each part of the program holds now, one line each. O(runs)."""
        return live(self.program, self.runtime.runs.statistics())

    def _known(self, name: str) -> Subscriber:
        subscriber = self.catalog.subscriptions.get(name)
        if subscriber is None:
            near = suggestion(name, list(self.catalog.subscriptions))
            raise UnknownSubscription(f"unknown subscription {name!r}{near}")
        return subscriber
