"""The warnings on a text that is right: what the language finds, with the schemas of the streams that the text reads;
and on streams of which a subscription waits for time to pass.

Not here: what else is warned of (broker.language.lint, and the `doubts` of a language's row), errors.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from operator import attrgetter

from ...automaton.analyses.window import looks_ahead
from ...automaton.windows.overlap import overlap
from ...events.errors import ForetellError
from ...language.lint import Warned, lint
from ...language.subscription import SubscriptionDefinition
from ..disorder.reordering import Reordering
from ..languages.table import language_of
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber


def warnings_of(catalog: Catalog, definition: SubscriptionDefinition) -> list[Warned]:
    """The warnings, in the order of the text; none on a text that is wrong. O(text), which is parsed for it, and what
    its language looks at."""
    text = definition.query
    try:
        language = language_of(definition)
        syntax = language.parse(text)
    except ForetellError:
        return []
    reads = dict.fromkeys(language.reads(syntax))
    schemas = [catalog.streams[stream].schema for stream in reads if stream in catalog.streams]
    nullable = {attribute.name for schema in schemas for attribute in schema.attributes if attribute.nullable}
    required = {name for schema in schemas for name in schema.names} - nullable
    found = lint(text, syntax, nullable, required)
    for at, operator, streams in language.followers(syntax):
        for stream in [name for name in dict.fromkeys(streams) if _overlap(catalog, name)]:
            taken = f"{operator} takes the next one that begins after the former has ended"
            found.append(Warned(at, f"the windows of {stream!r} overlap: {taken}, and skips those between", text))
    with suppress(ForetellError):
        found += [Warned(at, message, text) for at, message in language.doubts(syntax, text, catalog.schema_of)]
    return sorted(dict.fromkeys(found), key=attrgetter("at"))


def _overlap(catalog: Catalog, name: str) -> bool:
    """Whether a stream is of published windows that overlap. O(subscriptions) if it is published."""
    return name in catalog.published and any(
        automaton.windows is not None and overlap(automaton.windows)
        for subscriber in catalog.subscriptions.values()
        if subscriber.form.publish == name
        for automaton in subscriber.automata()
    )


def warnings_of_absence(
    catalog: Catalog, disorder: Reordering | None, subscriber: Subscriber, stamped: Collection[str] | None
) -> list[str]:
    """That absence is not told while a broker is quiet, as the clock does not promise for streams without `idle` whose
    publishers give times. `stamped`: these; None: not known yet, so that those are named which the subscription reads.
    O(its automata, streams)."""
    if not any(map(looks_ahead, subscriber.automata())):
        return []
    if stamped is None:
        names = catalog.declared_of([stream for stream, _ in subscriber.form.sources])
        given = "where publishers give the times, absence is not told while no events come"
    else:
        together = list(catalog.streams) if disorder is None else disorder.orders.of_subscriber(subscriber).streams()
        names = [name for name in together if name in stamped]
        given = "publishers give the times, so absence is not told while no events come"
    quiet = [repr(name) for name in names if catalog.streams[name].idle is None]
    word = "stream" if len(quiet) == 1 else "streams"
    return [f"{word} {', '.join(quiet)}: {given}: write idle = \"2 s\" there, for example"] if quiet else []
