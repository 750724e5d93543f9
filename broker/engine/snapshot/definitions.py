"""The section of names: streams, subscriptions in their order, and the suspended ones among them.

Not here: the partial matches of subscriptions (machines, merged).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, final

from ...automaton.rewriting.table import RULES
from ...events.schema import Schema
from ...events.stream import StreamDefinition
from ...language.subscription import SubscriptionDefinition
from ..compiler.query_compiler import QueryCompiler
from ..subscribing.entering import install
from ..subscribing.holdings import PublishedStream
from ..subscribing.streams import declare
from .state import EngineState

NAMES: Final = tuple([rule.name for rule in RULES])


def save(state: EngineState) -> Any:
    catalog = state.catalog
    return {
        "streams": [
            [
                *(s.name, s.schema.declared(), s.key, s.disorder, s.lateness, s.speculation),
                *(s.idle, s.time_unit, s.added, s.sequence),
            ]
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


def save_widths(state: EngineState) -> Any:
    """How many attributes subscriptions read of streams that have more by now."""
    catalog = state.catalog
    found = [[name, catalog.widths(subscriber)] for name, subscriber in catalog.subscriptions.items()]
    return [each for each in found if each[1]] or None


def restore_widths(state: EngineState, content: Any) -> None:
    """Keep them for the subscriptions, which are made again later."""
    state.widths = dict(content)


def save_rules(state: EngineState) -> Any:
    """By which rules automata were rewritten, if by any: those of most, and the subscriptions with others. Runs of an
    automaton before and after have nothing in common."""
    usual = _on(state.program.options.rules_off)
    others = [[name, on] for name, s in state.catalog.subscriptions.items() if (on := _on(s.form.rules_off)) != usual]
    return [usual, others] if usual or others else None


def restore_rules(state: EngineState, content: Any) -> None:
    """Keep them for the subscriptions, which are made again later."""
    usual, others = content
    state.rules_off = _off(usual)
    state.rules_off_of = {name: _off(on) for name, on in others}


def _on(off: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([rule.name for rule in RULES if rule.name not in off])


def _off(on: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in on if name not in NAMES]
    if unknown:
        raise ValueError(f"no rule {unknown[0]!r}")
    return tuple([name for name in NAMES if name not in on])


def restore(state: EngineState, content: Any) -> None:
    """Make everything again. Automata are rewritten by the rules of then, whatever the switches are now."""
    catalog = state.catalog
    usual = catalog.compiler
    _define(state, content)
    catalog.compiler = usual


@final
class _Compilers:
    """The compilers by the rules that are off."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._options = state.program.options
        self._known = {_off(_on(self._options.rules_off)): state.catalog.compiler}

    def of(self, subscription: str) -> QueryCompiler:
        state = self._state
        off = state.rules_off_of.get(subscription, state.rules_off)
        if off not in self._known:
            self._known[off] = state.catalog.compiler_with(replace(self._options, rules_off=off))
        return self._known[off]


def _define(state: EngineState, content: Any) -> None:
    catalog, engine = state.catalog, state.engine
    for name, attributes, *more in content["streams"]:
        declare(engine, StreamDefinition(name, Schema.declare(attributes), *more))
    for name, attributes, _ in content["published"]:
        catalog.published[name] = PublishedStream(Schema.declare(attributes))
    catalog.withdrawn = {name: (reason, since) for name, reason, since in content["withdrawn"]}
    if engine.disorder is not None:
        engine.disorder.copies.restoring = state.revising
    compilers = _Compilers(state)
    for name, language, query, lineage, report, forecast, since in content["subscriptions"]:
        catalog.compiler = compilers.of(name)
        wanted = _plain(forecast)
        results = state.results.get(name)
        definition = SubscriptionDefinition(name, language, query, lineage, report, wanted, results)
        install(engine, catalog.parse(definition), since, state.widths.get(name))
    if engine.disorder is not None:
        engine.disorder.copies.restoring = None


def _plain(value: Any) -> Any:
    """Lists instead of msgpack's tuples, as the user has written the value."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
