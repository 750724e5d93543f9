"""Replaces the text of a subscription, with its runs or without.

Without its runs, a subscription with the new text takes the place of the old one at once, as of now: nothing is between
the two, and those that read what it publishes stay. With its runs, the difference of the texts is an update of arcs.

Not here: which texts differ by an update alone (automaton/arc_updates), the check of what others read (catalog).
"""

from __future__ import annotations

from dataclasses import replace as with_fields

from ...events.errors import DefinitionError, ForetellError, QueryError, Unsupported
from ...events.instant import LARGEST
from ...language.names import language_named
from ..compiler.query_compiler import Parsed, located
from ..disorder.joined import JoinedResults
from ..languages.language import Syntax
from ..parts import EngineParts
from ..results import Results
from .catalog import Catalog
from .entering import enter
from .leaving import remove
from .subscriber import Subscriber
from .updating import present, update


def replace(
    engine: EngineParts, subscriber: Subscriber, query: str, language: str, keep_runs: bool
) -> Results | JoinedResults:
    """Give a subscription another text. All of it takes effect, or nothing. O(both, and subscriptions in disorder)."""
    catalog, disorder = engine.catalog, engine.disorder
    definition = with_fields(subscriber.definition(), language=language, query=query)
    parsed = catalog.parse(definition)
    if keep_runs:
        return _edited(engine, subscriber, parsed)
    since = engine.since(parsed.reads())
    wanted = catalog.compile(parsed, since, subscriber)
    if wanted.plan is not None:
        engine.program.forecasts.check(wanted.plan, wanted)
    if disorder is not None:
        disorder.copies.check(wanted, disorder.copies.can_revise(wanted))
    results = remove(engine, subscriber)
    enter(engine, wanted)
    return results


def _edited(engine: EngineParts, subscriber: Subscriber, parsed: Parsed) -> JoinedResults:
    """Update the arcs in which the texts differ; nothing if they say the same."""
    name, language = subscriber.name, language_named(subscriber.form.language)
    anew = "it can only begin anew"
    if parsed.language.name != language:
        raise Unsupported(f"subscription {name!r}: its runs are of the language {language!r}: {anew}")
    if not subscriber.updates and parsed.language.print(_syntax(parsed)) == subscriber.text():
        return JoinedResults([])
    if subscriber.form.changing is None:
        raise Unsupported(f"subscription {name!r}: runs of the language {language!r} keep their text: {anew}")
    begin = present(engine, subscriber.name)[0]
    try:
        arcs = subscriber.first_arcs() if subscriber.changed is None else subscriber.changed
        insert, delete = arcs.difference(subscriber.text(), subscriber.updates, _syntax(parsed), begin)
    except QueryError as error:
        raise located(name, error) from None
    except DefinitionError as error:
        raise Unsupported(f"subscription {name!r}: {error}: {anew}") from None
    if not insert and not delete:
        return JoinedResults([])
    return update(engine, subscriber, insert, delete, None, None)


def says(catalog: Catalog, subscriber: Subscriber, query: str) -> bool:
    """Whether a text of its language says what a subscription does now, after the updates of its arcs. O(both)."""
    if not subscriber.updates or subscriber.form.changing is None:
        return False
    try:
        wanted = _syntax(catalog.parse(with_fields(subscriber.definition(), query=query)))
        arcs = subscriber.first_arcs() if subscriber.changed is None else subscriber.changed
        return arcs.difference(subscriber.text(), subscriber.updates, wanted, LARGEST) == ([], [])
    except ForetellError:
        return False


def _syntax(parsed: Parsed) -> Syntax:
    """The syntax of this very text."""
    return parsed.syntax if parsed.shape is None else parsed.language.parse(parsed.definition.query)
