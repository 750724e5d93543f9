"""Fills an engine from a subscription file (design 2.1).

Not here: the form of the file (language.subscription_file).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...events.errors import DefinitionError, ForetellError, QueryError
from ...language.subscription import SubscriptionDefinition
from ...language.subscription_file import read_subscription_file
from ..parts import EngineParts
from ..program.target import ALWAYS_SINCE
from .entering import install
from .holdings import in_order
from .streams import declare


def load_into(engine: EngineParts, path: str | Path) -> None:
    """Declare the streams of a file and add its subscriptions. Raises ForetellError, with a message that begins with
    the path, if the content is invalid; OSError if the file cannot be read."""
    place = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{place}: expected UTF-8 text, found byte {error.start} that is not") from None
    file = read_subscription_file(text, place)
    try:
        for stream in file.streams:
            declare(engine, stream)
        install_all(engine, file.subscriptions)
    except QueryError as error:
        raise QueryError(f"{place}: {error}", error.line, error.column, error.excerpt) from None
    except ForetellError as error:
        raise type(error)(f"{place}: {error}") from None


def install_all(engine: EngineParts, definitions: Iterable[SubscriptionDefinition]) -> None:
    """Install subscriptions whose streams are declared or published by others of them. They see events of any time.

    O(size of the queries). Raises ForetellError without a place.
    """
    parsed = [engine.catalog.parse(definition) for definition in definitions]
    for one in parsed:
        engine.catalog.check_publish(one.definition.name, one.publish, one.definition.query)
    for one in in_order(parsed):
        install(engine, one, ALWAYS_SINCE)
