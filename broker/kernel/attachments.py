"""Which sessions are attached to which subscription, and when the engine may drop one. Names are global in the broker.

The first client to subscribe adds a subscription to the engine, others attach to it, and it is removed with the last.
Subscriptions of the broker's own configuration stay. If others read the stream that a subscription publishes, it stays
without clients until they are gone.

After a crash the subscriptions of clients are restored with their partial matches, but without their clients. They stay
until `abandon`, so that a client that comes back finds them. A subscription with a durable cursor stays until the
cursor is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, final

from ..engine.languages.table import canonical, default_lineage, default_report
from ..events import DefinitionError, ForetellError, UnknownSubscription, shown, suggestion
from ..language.subscription import RESULTS, SubscriptionDefinition
from ..wire import Subscribe
from .answers import bounded_count
from .durable_delivery import AnyDelivery
from .engine_port import EnginePort, EngineResult
from .named_counts import NamedCounts
from .records import Record, SubscriptionAdded, SubscriptionRemoved, SubscriptionReplaced, options_of
from .sources import Sources

_NOBODY: Final[Mapping[bytes, AnyDelivery]] = {}


@final
class Attachments:
    """Deliveries by subscription and session, kept in step with the engine's subscriptions."""

    __slots__ = (
        "_awaited",
        "_definitions",
        "_deliveries",
        "_engine",
        "_held",
        "_permanent",
        "_record",
        "_sources",
        "_unneeded",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        sources: Sources | None = None,
        permanent: Container[str] | None = None,
        record: Callable[[Record], None] = lambda _: None,
        held: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`permanent`: the names of the configuration's subscriptions; None: all existing ones. `record` gets each
        change of the engine's subscriptions. `held`: whether a cursor needs the subscription of this name.
        """
        self._engine = engine
        self._record = record
        self._held = held
        self._sources = sources  # they know all present subscriptions of the engine
        # A copy, because the engine's own listing may be O(subscriptions). Only this class changes them.
        self._definitions: dict[str, SubscriptionDefinition] = dict(engine.subscriptions)
        self._permanent: Final = frozenset(n for n in self._definitions if permanent is None or n in permanent)
        self._awaited: dict[str, None] = dict.fromkeys(n for n in self._definitions if not self._stays(n))
        self._deliveries: dict[str, dict[bytes, AnyDelivery]] = {}
        self._unneeded: dict[str, None] = {}

    def of(self, name: str) -> Mapping[bytes, AnyDelivery]:
        """The deliveries of a subscription by session, in the order in which they attached. O(1)."""
        return self._deliveries.get(name, _NOBODY)

    @property
    def definitions(self) -> Mapping[str, SubscriptionDefinition]:
        """Every subscription of the engine by name."""
        return self._definitions

    def attach(self, session: bytes, request: Subscribe, delivery: AnyDelivery) -> bool:
        """Attach a session, and add a new subscription to the engine; whether the subscription existed before.

        Raises ForetellErrors, and then changes nothing.
        """
        name = request.name
        existing = self._definitions.get(name)
        if session in self.of(name):
            raise DefinitionError(f"subscription {name!r}: this client has subscribed to it already")
        if request.query is None:
            if existing is None:
                raise UnknownSubscription(f"subscription {name!r} is not known{suggestion(name, self._definitions)}")
            _check_equal(self._engine, existing, _as_given(request, existing))
        else:
            wanted = SubscriptionDefinition(
                name, request.language, request.query, request.lineage, request.report, request.forecast,
                request.results,
            )  # fmt: skip
            if existing is None:
                self._engine.subscribe(
                    name,
                    language=wanted.language,
                    query=wanted.query,
                    lineage=wanted.lineage,
                    report=wanted.report,
                    forecast=wanted.forecast,
                    results=wanted.results,
                )
                self._definitions[name] = wanted
                self._record(SubscriptionAdded(*_fields(wanted), options_of(wanted)))
                if self._sources is not None:
                    self._sources.add(name)
            else:
                _check_equal(self._engine, existing, wanted)
        self._deliveries.setdefault(name, {})[session] = delivery
        self._unneeded.pop(name, None)
        self._awaited.pop(name, None)
        return existing is not None

    def awaited(self, name: str) -> bool:
        """Whether clients from before a crash may still come back for this subscription."""
        return name in self._awaited

    def abandon(self) -> None:
        """Stop waiting for clients from before a crash, and remove the subscriptions that none came back for."""
        self._unneeded.update(self._awaited)
        self._awaited = {}
        self._remove_unneeded()

    def rename(self, name: str, old: bytes, new: bytes) -> None:
        """Change the key of a session."""
        deliveries = self._deliveries[name]
        deliveries[new] = deliveries.pop(old)

    def detach(self, session: bytes, name: str) -> None:
        """Detach a session, which must be attached. The subscription goes with its last session."""
        deliveries = self._deliveries[name]
        del deliveries[session]
        if deliveries:
            return
        del self._deliveries[name]
        self.release(name)

    def release(self, name: str) -> None:
        """Remove a subscription from the engine if no client, cursor or configuration needs it."""
        if name not in self._deliveries and not self._stays(name):
            self._unneeded[name] = None
            self._remove_unneeded()

    def delete(self, name: str) -> Mapping[bytes, AnyDelivery]:
        """Remove a subscription although clients have it; their deliveries, which nothing has any more.

        Raises DefinitionError, and then changes nothing, if the configuration, a cursor or another subscription needs
        it.
        """
        if name in self._permanent:
            raise DefinitionError(f"subscription {name!r} belongs to the broker's configuration")
        if self._held(name):
            raise DefinitionError(f"subscription {name!r} has cursors: forget them first")
        self._unneeded[name] = None
        try:
            self._remove(name)
        except ForetellError:
            del self._unneeded[name]
            raise
        self._awaited.pop(name, None)
        deliveries = self._deliveries.pop(name, {})
        self._remove_unneeded()
        return deliveries

    def replace(self, name: str, query: str, language: str, keep_runs: bool) -> Iterable[EngineResult]:
        """Give a subscription another text for all who have it; its last results.

        Raises ForetellErrors, and then changes nothing: DefinitionError if it belongs to the configuration.
        """
        if name in self._permanent:
            raise DefinitionError(f"subscription {name!r} belongs to the broker's configuration")
        before = None if self._sources is None else self._sources.of(name)
        results = self._engine.replace(name, query, language, keep_runs)
        self._definitions[name] = self._engine.subscriptions[name]
        self._record(SubscriptionReplaced(name, language, query, keep_runs))
        if self._sources is not None and before is not None:
            self._sources.replace(name, before)
        return results

    def _stays(self, name: str) -> bool:
        return name in self._permanent or self._held(name)

    def entries(self) -> Iterable[tuple[SubscriptionDefinition, Mapping[bytes, AnyDelivery]]]:
        """Every subscription of the engine with its deliveries, sorted by name."""
        for name in sorted(self._definitions):
            yield self._definitions[name], self.of(name)

    def statistics(self) -> dict[str, int]:
        """Of all subscriptions together."""
        deliveries = [delivery for group in self._deliveries.values() for delivery in group.values()]
        return {
            "subscriptions": len(self._definitions),
            "attachments": len(deliveries),
            "notifications_queued": bounded_count(sum(delivery.waiting for delivery in deliveries)),
            "notifications_queued_bytes": sum(delivery.queued_bytes for delivery in deliveries),
        }

    def statistics_by_name(self, counts: NamedCounts) -> dict[str, dict[str, int]]:
        """The counts of each subscription, with its clients and queued notifications. O(attachments)."""
        levels: dict[str, list[int]] = {}
        for name, deliveries in self._deliveries.items():
            counts.row(name)
            level = levels.setdefault(counts.named(name), [0, 0])
            level[0] += len(deliveries)
            level[1] += sum(delivery.waiting for delivery in deliveries.values())
        found = counts.statistics(self._definitions)
        for name, row in found.items():
            subscribers, queued = levels.get(name, (0, 0))
            row.update(subscribers=subscribers, notifications_queued=bounded_count(queued))
            row["results"] = bounded_count(row["results"])
            row["notifications_missed"] = bounded_count(row["notifications_missed"])
        return found

    def check_invariants(self) -> None:
        """For tests."""
        subscriptions = self._engine.subscriptions
        assert dict(subscriptions) == self._definitions
        for name, deliveries in self._deliveries.items():
            assert deliveries, "a subscription without clients is not kept here"
            assert name in subscriptions
            for delivery in deliveries.values():
                assert delivery.subscription == name
                delivery.check_invariants()
        for name in subscriptions:
            kept = self._stays(name) or name in self._unneeded or name in self._awaited
            assert name in self._deliveries or kept
        assert not (self._unneeded | self._awaited).keys() & self._deliveries.keys()

    def _remove_unneeded(self) -> None:
        # Each removal may free another subscription that it read. Names leave in the order in which their clients left.
        removed = True
        while removed:
            removed = False
            for name in tuple(self._unneeded):
                try:
                    self._remove(name)
                except ForetellError:
                    continue
                removed = True

    def _remove(self, name: str) -> None:
        """Remove a subscription that is not needed. Raises the engine's error, and then changes nothing."""
        self._engine.unsubscribe(name)
        del self._unneeded[name], self._definitions[name]
        self._record(SubscriptionRemoved(name))
        if self._sources is not None:
            self._sources.remove(name)


def _fields(
    definition: SubscriptionDefinition,
) -> tuple[str, str, str, bool | None, str | None, Mapping[str, Any] | None]:
    each = definition
    return each.name, each.language, each.query, each.lineage, each.report, each.forecast


def _as_given(request: Subscribe, existing: SubscriptionDefinition) -> SubscriptionDefinition:
    """The existing definition with the options of a request without a query. Raises DefinitionError."""
    lineage = existing.lineage if request.lineage is None else request.lineage
    report = existing.report if request.report is None else request.report
    forecast = existing.forecast if request.forecast is None else request.forecast
    results = existing.results if request.results is None else request.results
    return replace(existing, lineage=lineage, report=report, forecast=forecast, results=results)


def _check_equal(engine: EnginePort, existing: SubscriptionDefinition, wanted: SubscriptionDefinition) -> None:
    """Raise DefinitionError if the definitions differ; an omitted option means its default. A subscription whose arcs
    were updated has two texts: that with which it began, and that which says what it does now."""
    place = f"subscription {wanted.name!r} exists with another"
    if existing.language != wanted.language:
        raise DefinitionError(f"{place} language")
    same = existing.query == wanted.query or _says_the_same(existing, wanted) or engine.says(wanted.name, wanted.query)
    if not same:
        raise DefinitionError(f"{place} text")
    for word, known, asked in zip(("report", "lineage", "forecast", "results"), _options(existing), _options(wanted)):
        if known != asked:
            raise DefinitionError(f"{place} {word}: expected {_shown(known)}, found {_shown(asked)}")


def _says_the_same(existing: SubscriptionDefinition, wanted: SubscriptionDefinition) -> bool:
    """Whether two texts differ in blanks, comments and case of keywords only: their canonical texts are equal."""
    try:
        return canonical(existing) == canonical(wanted)
    except ForetellError:
        return False


def _options(definition: SubscriptionDefinition) -> tuple[str | None, bool, dict[str, Any] | None, str]:
    """Report, lineage, forecast and results, with the defaults in place."""
    results = definition.results or RESULTS[0]
    return default_report(definition), default_lineage(definition), definition.forecast, results


def _shown(option: object) -> str:
    match option:
        case None:
            return "none"
        case bool():
            return str(option).lower()
        case str():
            return option
        case _:
            return shown(option)
