"""The section of names: streams, subscriptions in their order with all that made them, and the suspended among them.

Not here: the partial matches of subscriptions (machines, merged).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ...automaton.arc_updates import ArcUpdate
from ...automaton.rewriting.table import RULES
from ...events.schema import Schema
from ...events.stream import StreamDefinition
from ...language.subscription import SubscriptionDefinition
from ..compiler.query_compiler import QueryCompiler
from ..subscribing.entering import install
from ..subscribing.holdings import PublishedStream
from ..subscribing.streams import declare
from ..subscribing.updating import update_again
from .state import EngineState

NAMES: Final = tuple([rule.name for rule in RULES])


def save(state: EngineState) -> Any:
    """`rules`: by which rules automata were rewritten, each subscription's by number; runs of an automaton before and
    after have nothing in common."""
    catalog = state.catalog
    rules: dict[tuple[str, ...], int] = {}
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
            [
                *(d.name, d.language, d.query, d.lineage, d.report, d.forecast, d.results, s.since),
                *(catalog.widths(s), rules.setdefault(_on(s.form.rules_off), len(rules)), list(map(list, s.updates))),
            ]
            for s in catalog.subscriptions.values()
            for d in [s.definition()]
        ],
        "rules": list(rules),
    }


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


def _compiler(state: EngineState, on: tuple[str, ...]) -> QueryCompiler:
    """The compiler by these rules."""
    catalog, options, off = state.catalog, state.program.options, _off(on)
    return catalog.compiler if on == _on(options.rules_off) else catalog.compiler_with(replace(options, rules_off=off))


def _define(state: EngineState, content: Any) -> None:
    catalog, engine = state.catalog, state.engine
    for name, attributes, *more in content["streams"]:
        declare(engine, StreamDefinition(name, Schema.declare(attributes), *more))
    for name, attributes, _ in content["published"]:
        catalog.published[name] = PublishedStream(Schema.declare(attributes))
    catalog.withdrawn = {name: (reason, since) for name, reason, since in content["withdrawn"]}
    if engine.disorder is not None:
        engine.disorder.copies.restoring = state.revising
    compilers = [_compiler(state, on) for on in content["rules"]]
    for name, language, query, lineage, report, forecast, results, since, widths, rules, _ in content["subscriptions"]:
        catalog.compiler = compilers[rules]
        definition = SubscriptionDefinition(name, language, query, lineage, report, _plain(forecast), results)
        install(engine, catalog.parse(definition), since, widths)
    if engine.disorder is not None:
        engine.disorder.copies.restoring = None
    for name, *_, updates in content["subscriptions"]:  # whose machines are still empty
        made = [ArcUpdate(tuple(insert), tuple(delete), begin, end) for insert, delete, begin, end in updates]
        update_again(state.program, state.runtime, engine.disorder, catalog.subscriptions[name], made)


def _plain(value: Any) -> Any:
    """Lists instead of msgpack's tuples, as the user has written the value."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
