"""The warnings on a text that is right: what the language finds, with the schemas of the streams that the text reads;
and on streams of which a subscription waits for time to pass.

Not here: what else is warned of (broker.language.lint, and the `doubts` of a language's row), errors.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from operator import attrgetter
from typing import Any

from ...automaton.analyses.window import waits_for_time
from ...automaton.windows.overlap import overlap
from ...events.errors import ForetellError
from ...events.schema import TEXTS
from ...forecast.settings import read_horizon
from ...language.lint import Warned, lint
from ...language.subscription import SubscriptionDefinition
from ..disorder.reordering import Reordering
from ..languages.language import Language
from ..languages.table import language_of
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber


def warnings_of(
    catalog: Catalog, definition: SubscriptionDefinition, alike: set[Any] | None = None
) -> list[Warned]:
    """The warnings, in the order of the text; none on a text that is wrong, or like one in `alike`, which it joins.
    O(text), which is parsed for it, and what its language looks at."""
    text = definition.query
    try:
        language = language_of(definition)
        if alike is not None:
            known = len(alike)
            alike.add(_likeness(language, text))
            if len(alike) == known:
                return []
        syntax = language.parse(text)
    except ForetellError:
        return []
    reads = dict.fromkeys(language.reads(syntax))
    schemas = [catalog.streams[stream].schema for stream in reads if stream in catalog.streams]
    nullable = {attribute.name for schema in schemas for attribute in schema.attributes if attribute.nullable}
    required = {name for schema in schemas for name in schema.names} - nullable
    lists = {each.name for schema in schemas for each in schema.attributes if each.type == TEXTS}
    found = lint(text, syntax, nullable, required, lists)
    for at, operator, streams in language.followers(syntax):
        for stream in [name for name in dict.fromkeys(streams) if _overlap(catalog, name)]:
            taken = f"{operator} takes the next one that begins after the former has ended"
            found.append(Warned(at, f"the windows of {stream!r} overlap: {taken}, and skips those between", text))
    with suppress(ForetellError):
        found += [Warned(at, message, text) for at, message in language.doubts(syntax, text, catalog.schema_of)]
    return sorted(dict.fromkeys(found), key=attrgetter("at"))


def _likeness(language: Language, text: str) -> tuple[Any, ...]:
    """Equal for texts that differ in literals only, if these are in the same order, numbers and strings each."""
    shape = language.shape(text)
    if shape is None:
        return language.name, text
    ordered = sorted(set(shape.literals), key=lambda literal: (isinstance(literal, str), literal))
    ranks = {literal: rank for rank, literal in enumerate(ordered)}
    return language.name, shape.key, tuple([ranks[literal] for literal in shape.literals])


def _overlap(catalog: Catalog, name: str) -> bool:
    """Whether a stream is of published windows that overlap. O(subscriptions) if it is published."""
    return name in catalog.published and any(
        automaton.windows is not None and overlap(automaton.windows)
        for subscriber in catalog.subscriptions.values()
        if subscriber.form.publish == name
        for automaton in subscriber.automata()
    )


def warnings_of_waiting(
    catalog: Catalog, disorder: Reordering | None, subscriber: Subscriber, stamped: Collection[str] | None
) -> list[str]:
    """That what waits for time to pass is not told while a broker is quiet, as the clock does not promise for streams
    without `idle` whose publishers give times. `stamped`: these; None: not known yet, so that those are named which the
    subscription reads. O(its automata, streams)."""
    waiting = dict.fromkeys(map(waits_for_time, subscriber.automata()))
    forecast = subscriber.form.forecast
    if forecast is not None and read_horizon(forecast["within"])[1]:
        waiting["the horizon of a forecast"] = None
    said = " and ".join([each for each in waiting if each is not None])
    if not said:
        return []
    if disorder is not None:
        disorder.orders.follow()
    if stamped is None:
        names = catalog.declared_of([stream for stream, _ in subscriber.form.sources])
        given = f"where publishers give the times, {said} is not told while no events come"
    else:
        together = list(catalog.streams) if disorder is None else disorder.orders.of_subscriber(subscriber).streams()
        names = [name for name in together if name in stamped]
        given = f"publishers give the times, so {said} is not told while no events come"
    quiet = [repr(name) for name in names if catalog.streams[name].idle is None]
    word = "stream" if len(quiet) == 1 else "streams"
    return [f"{word} {', '.join(quiet)}: {given}: write idle = \"2 s\" there, for example"] if quiet else []
