"""`foretell check`: checks a subscription file and prints one line for each subscription, without running any."""

from __future__ import annotations

import typer

from .loading import SubscriptionsArgument, load_engine


def check(subscriptions: SubscriptionsArgument) -> None:
    """Check a subscription file and print what each subscription reads and publishes."""
    from ..engine.languages.table import language_of

    engine = load_engine(subscriptions)
    for name, definition in engine.subscriptions.items():
        language = language_of(definition)
        syntax = language.parse(definition.query)
        reads = ", ".join(dict.fromkeys(language.reads(syntax)))
        publishing = "" if syntax.publish is None else f", publishes {syntax.publish}"
        typer.echo(f"ok {name}: {language.name}, reads {reads}{publishing}")
        plan = engine.catalog.subscriptions[name].machine
        for advice in [] if plan is None else plan.advice():
            typer.echo(f"   {name}: {advice}")
