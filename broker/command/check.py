"""Law: `foretell check`: is a subscription file right? One line a subscription, and nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from .loading import SubscriptionsArgument, load_engine

if TYPE_CHECKING:
    from ..language.cayuga_syntax import StreamExpression


def check(subscriptions: SubscriptionsArgument) -> None:
    """Type-check a subscription file and say what each subscription reads and publishes."""
    engine = load_engine(subscriptions)
    for name, definition in engine.subscriptions.items():
        reads, publishes = streams_of(definition.language, definition.query)
        publishing = "" if publishes is None else f", publishes {publishes}"
        typer.echo(f"ok {name}: {definition.language}, reads {', '.join(reads)}{publishing}")


def streams_of(language: str, query: str) -> tuple[list[str], str | None]:
    """The streams that a query reads, in the order of its text and each once, and the one that it publishes.

    Raises QueryError.
    """
    match language:
        case "cayuga":
            from ..language.cayuga import parse

            syntax = parse(query)
            return list(dict.fromkeys(_sources(syntax.source))), syntax.publish
        case "ptopss":
            from ..language import ptopss

            composite = ptopss.parse(query)
            return [composite.stream], composite.publish
        case "sase":
            from ..language import sase

            pattern = sase.parse(query)
            return list(dict.fromkeys(component.stream for component in pattern.components)), pattern.publish
        case _:
            raise AssertionError(f"a subscription in {language} was accepted but cannot be described")


def _sources(syntax: StreamExpression) -> Iterator[str]:
    from ..language.cayuga_syntax import Filter, Fold, Next, Select, Source, Union

    match syntax:
        case Source(stream=stream):
            yield stream
        case Filter(source=source) | Select(source=source):
            yield from _sources(source)
        case Next(left=left, right=right) | Fold(left=left, right=right) | Union(left=left, right=right):
            yield from _sources(left)
            yield from _sources(right)
