"""The warnings on a text that is right: what the language finds, with the schemas of the streams that the text reads.

Not here: what is warned of (broker.language.lint), errors.
"""

from __future__ import annotations

from ...events.errors import ForetellError
from ...language.lint import Warned, lint
from ...language.subscription import SubscriptionDefinition
from ..languages.table import language_of
from ..subscribing.catalog import Catalog


def warnings_of(catalog: Catalog, definition: SubscriptionDefinition) -> list[Warned]:
    """The warnings, in the order of the text; none on a text that is wrong. O(text), which is parsed for it."""
    try:
        language = language_of(definition)
        syntax = language.parse(definition.query)
    except ForetellError:
        return []
    reads = dict.fromkeys(language.reads(syntax))
    schemas = [catalog.streams[stream].schema for stream in reads if stream in catalog.streams]
    nullable = {attribute.name for schema in schemas for attribute in schema.attributes if attribute.nullable}
    required = {name for schema in schemas for name in schema.names} - nullable
    return lint(definition.query, syntax, nullable, required)
