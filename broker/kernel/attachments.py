"""Who is attached to which subscription, and when the engine may forget one. Names are global in the broker.

The first client to subscribe brings a subscription into the engine, others attach to it, and with the last one it goes.
Subscriptions of the broker's own configuration stay. One that others read (they are written over what it publishes)
cannot go before them: it stays without clients until that is over.

After a crash the subscriptions of clients are there again, with all that they had begun, and their clients are not.
They stay for a while (until `abandon`), so that whoever comes back finds what it had left. What a durable cursor holds
stays until that is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, final

from ..engine.languages.table import default_lineage, default_report
from ..events import DefinitionError, ForetellError, UnknownSubscription, shown, suggestion
from ..language.subscription import SubscriptionDefinition
from ..wire import Subscribe
from .durable_delivery import AnyDelivery
from .engine_port import EnginePort
from .listing import countable
from .records import Record, SubscriptionAdded, SubscriptionRemoved
from .sources import Sources

_NOBODY: Final[Mapping[bytes, AnyDelivery]] = {}


@final
class Attachments:
    """Deliveries by subscription and session, kept in step with the engine's subscriptions."""

    __slots__ = (
        "_definitions", "_deliveries", "_engine", "_held", "_left", "_lingering", "_permanent", "_record", "_sources",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        sources: Sources | None = None,
        permanent: Container[str] | None = None,
        record: Callable[[Record], None] = lambda _: None,
        held: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`permanent`: names of the configuration's subscriptions; None: of all that are there. `record` is told of
        each change of the engine's subscriptions. `held`: whether a cursor needs the one of this name.
        """
        self._engine = engine
        self._record = record
        self._held = held
        self._sources = sources  # that know of all subscriptions which the engine has now
        # The engine's own listing may cost as much as there are subscriptions; nobody else changes them.
        self._definitions: dict[str, SubscriptionDefinition] = dict(engine.subscriptions)
        self._permanent: Final = frozenset(n for n in self._definitions if permanent is None or n in permanent)
        self._left: dict[str, None] = dict.fromkeys(n for n in self._definitions if not self._stays(n))
        self._deliveries: dict[str, dict[bytes, AnyDelivery]] = {}
        self._lingering: dict[str, None] = {}

    def of(self, name: str) -> Mapping[bytes, AnyDelivery]:
        """The deliveries of a subscription by session, in the order in which they attached. O(1)."""
        return self._deliveries.get(name, _NOBODY)

    @property
    def definitions(self) -> Mapping[str, SubscriptionDefinition]:
        """Every subscription of the engine by name."""
        return self._definitions

    def attach(self, session: bytes, request: Subscribe, delivery: AnyDelivery) -> bool:
        """Register in the engine what is new; whether it was there before. Raises ForetellErrors, changing nothing."""
        name = request.name
        existing = self._definitions.get(name)
        if session in self.of(name):
            raise DefinitionError(f"subscription {name!r}: this client has subscribed to it already")
        if request.query is None:
            if existing is None:
                raise UnknownSubscription(f"subscription {name!r} is not known{suggestion(name, self._definitions)}")
            _check_equal(existing, _as_given(request, existing))
        else:
            wanted = SubscriptionDefinition(
                name, request.language, request.query, request.lineage, request.report, request.forecast
            )
            if existing is None:
                self._engine.subscribe(
                    name,
                    language=wanted.language,
                    query=wanted.query,
                    lineage=wanted.lineage,
                    report=wanted.report,
                    forecast=wanted.forecast,
                )
                self._definitions[name] = wanted
                self._record(SubscriptionAdded(*_fields(wanted), {}))
                if self._sources is not None:
                    self._sources.add(name)
            else:
                _check_equal(existing, wanted)
        self._deliveries.setdefault(name, {})[session] = delivery
        self._lingering.pop(name, None)
        self._left.pop(name, None)
        return existing is not None

    def awaited(self, name: str) -> bool:
        """Whether clients may come back for this one that were there before a crash."""
        return name in self._left

    def abandon(self) -> None:
        """Who has not come back for a subscription by now, does not come any more."""
        self._lingering.update(self._left)
        self._left = {}
        self._remove_lingering()

    def rename(self, name: str, old: bytes, new: bytes) -> None:
        """The session is called otherwise from now on."""
        deliveries = self._deliveries[name]
        deliveries[new] = deliveries.pop(old)

    def detach(self, session: bytes, name: str) -> None:
        """The session is told no more; the subscription goes with its last one. The session must be attached."""
        deliveries = self._deliveries[name]
        del deliveries[session]
        if deliveries:
            return
        del self._deliveries[name]
        self.release(name)

    def release(self, name: str) -> None:
        """A client or a cursor needs it no more; it goes where that was the last one."""
        if name not in self._deliveries and not self._stays(name):
            self._lingering[name] = None
            self._remove_lingering()

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
            "notifications_queued": countable(sum(delivery.waiting for delivery in deliveries)),
            "notifications_queued_bytes": sum(delivery.queued_bytes for delivery in deliveries),
        }

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
            kept = self._stays(name) or name in self._lingering or name in self._left
            assert name in self._deliveries or kept
        assert not (self._lingering | self._left).keys() & self._deliveries.keys()

    def _remove_lingering(self) -> None:
        # Each removal may free another one that it read; names leave in the order in which their clients did.
        removed = True
        while removed:
            removed = False
            for name in tuple(self._lingering):
                try:
                    self._engine.unsubscribe(name)
                except ForetellError:
                    continue
                del self._lingering[name], self._definitions[name]
                self._record(SubscriptionRemoved(name))
                if self._sources is not None:
                    self._sources.remove(name)
                removed = True


def _fields(
    definition: SubscriptionDefinition,
) -> tuple[str, str, str, bool | None, str | None, Mapping[str, Any] | None]:
    each = definition
    return each.name, each.language, each.query, each.lineage, each.report, each.forecast


def _as_given(request: Subscribe, existing: SubscriptionDefinition) -> SubscriptionDefinition:
    """What exists, with the options that a request without a query gives nevertheless. Raises DefinitionError."""
    lineage = existing.lineage if request.lineage is None else request.lineage
    report = existing.report if request.report is None else request.report
    forecast = existing.forecast if request.forecast is None else request.forecast
    return replace(existing, lineage=lineage, report=report, forecast=forecast)


def _check_equal(existing: SubscriptionDefinition, wanted: SubscriptionDefinition) -> None:
    """Raises DefinitionError where they mean different things; an option that is left out means its default."""
    place = f"subscription {wanted.name!r} exists with another"
    for field, word in (("language", "language"), ("query", "text")):
        if getattr(existing, field) != getattr(wanted, field):
            raise DefinitionError(f"{place} {word}")
    for word, known, asked in zip(("report", "lineage", "forecast"), _options(existing), _options(wanted)):
        if known != asked:
            raise DefinitionError(f"{place} {word}: expected {_shown(known)}, found {_shown(asked)}")


def _options(definition: SubscriptionDefinition) -> tuple[str | None, bool, dict[str, Any] | None]:
    """Report, lineage and forecast, with the language's defaults in place."""
    return default_report(definition), default_lineage(definition), definition.forecast


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
