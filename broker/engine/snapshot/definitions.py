"""The section of names: streams, subscriptions in their order, and the suspended ones among them.

Not here: the partial matches of subscriptions (machines, merged).
"""

from __future__ import annotations

from typing import Any

from ...events.schema import Schema
from ...events.stream import StreamDefinition
from ...language.subscription import SubscriptionDefinition
from ..subscribing.holdings import PublishedStream
from .state import EngineState


def save(state: EngineState) -> Any:
    catalog = state.catalog
    return {
        "streams": [
            [s.name, s.schema.declared(), s.key, s.disorder, s.lateness, s.speculation]
            + _later(s)
            for s in catalog.streams.values()
        ],
        "published": [[name, p.schema.declared(), p.readers] for name, p in catalog.published.items()],
        "withdrawn": [[name, *entry] for name, entry in catalog.withdrawn.items()],
        "subscriptions": [
            [d.name, d.language, d.query, d.lineage, d.report, d.forecast, s.since]
            for s in catalog.subscriptions.values()
            for d in [s.definition()]
        ],
    }


def _later(stream: StreamDefinition) -> list[Any]:
    """The fields of later versions, without the last ones that say nothing."""
    if stream.sequence is not None:
        return [stream.idle, stream.time_unit, stream.added, stream.sequence]
    if stream.added:
        return [stream.idle, stream.time_unit, stream.added]
    if stream.time_unit is not None:
        return [stream.idle, stream.time_unit]
    return [] if stream.idle is None else [stream.idle]


def save_widths(state: EngineState) -> Any:
    """How many attributes subscriptions read of streams that have more by now."""
    catalog = state.catalog
    found = [[name, catalog.widths(subscriber)] for name, subscriber in catalog.subscriptions.items()]
    return [each for each in found if each[1]] or None


def restore_widths(state: EngineState, content: Any) -> None:
    """Keep them for the subscriptions, which are made again later."""
    state.widths = dict(content)


def save_apart(state: EngineState) -> Any:
    """Automata that have states, although with all switches on they could be members in columns: runs of the two have
    nothing in common. With a switch off these are all that have states."""
    columns = state.program.options.in_columns
    found: list[str] = []
    for service in state.catalog.services():
        subscriber = service.subscriber
        if service.end is None or subscriber is None:
            continue
        recipe = subscriber.form.recipes[subscriber.branch]
        if not columns or (recipe is not None and recipe.bounds(subscriber.literals) is not None):
            found.append(service.name)
    return found or None


def restore_apart(state: EngineState, content: Any) -> None:
    """Keep the names for the subscriptions, which are made again later."""
    restoring = state.program.machines.restoring
    assert restoring is not None
    restoring.apart = frozenset(content)


def restore(state: EngineState, content: Any) -> None:
    """Make everything again. What was a member in columns is one again, whatever the switches are now."""
    catalog = state.catalog
    usual = catalog.compiler
    options = state.program.options
    if not options.in_columns:
        catalog.compiler = catalog.compiler_with(options.with_columns())
    _define(state, content)
    catalog.compiler = usual


def _define(state: EngineState, content: Any) -> None:
    catalog, engine = state.catalog, state.engine
    for name, attributes, *more in content["streams"]:
        engine.declare(StreamDefinition(name, Schema.declare(attributes), *more))
    for name, attributes, _ in content["published"]:
        catalog.published[name] = PublishedStream(Schema.declare(attributes))
    catalog.withdrawn = {name: (reason, since) for name, reason, since in content["withdrawn"]}
    if engine.disorder is not None:
        engine.disorder.copies.restoring = state.revising
    for name, language, query, lineage, report, forecast, since in content["subscriptions"]:
        wanted = _plain(forecast)
        results = state.results.get(name)
        definition = SubscriptionDefinition(name, language, query, lineage, report, wanted, results)
        engine.install(catalog.parse(definition), since, state.widths.get(name))
    if engine.disorder is not None:
        engine.disorder.copies.restoring = None


def _plain(value: Any) -> Any:
    """Lists instead of msgpack's tuples, as the user has written the value."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
