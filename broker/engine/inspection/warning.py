"""The warnings on a text that is right: what the language finds, with the schemas of the streams that the text reads.

Not here: what is warned of (broker.language.lint, and the `doubts` of a language's row), errors.
"""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter

from ...events.errors import ForetellError
from ...language.lint import Warned, lint
from ...language.subscription import SubscriptionDefinition
from ..languages.table import language_of
from ..subscribing.catalog import Catalog


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
    with suppress(ForetellError):
        found += [Warned(at, message, text) for at, message in language.doubts(syntax, text, catalog.schema_of)]
    return sorted(dict.fromkeys(found), key=attrgetter("at"))
