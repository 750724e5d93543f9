"""`foretell subscribe`: prints the notifications of one subscription as JSON lines as they arrive."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..events import DefinitionError, UnknownSubscription, suggestion
from ..language.names import DEFAULT_LANGUAGE
from ..language.subscription import Report, Results
from .complaint import one_line, placed
from .connection import DEFAULT_BROKER, BrokerOption, connect, declare_streams
from .known_names import SubscriptionNameArgument
from .result_files import TimesAs
from .results import json_line, with_iso_times

if TYPE_CHECKING:
    from client import Client, Durable, Subscription

    from ..wire import WhenSlow


def subscribe(
    name: SubscriptionNameArgument,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The query of a new subscription; omit it to attach.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Take the subscription and its streams from this file.")
    ] = None,
    language: Annotated[str, typer.Option(help="The language of the query.")] = DEFAULT_LANGUAGE,
    lineage: Annotated[
        bool | None, typer.Option("--lineage/--no-lineage", help="List the ids of the events of each match.")
    ] = None,
    report: Annotated[
        Report | None, typer.Option(help="A result for each match, or one for each event that completes some.")
    ] = None,
    results: Annotated[
        Results | None, typer.Option(help="Each result at once, or only when nothing can withdraw it any more.")
    ] = None,
    durable: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Resume where this cursor stopped; acknowledge each printed line."),
    ] = None,
    retain: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="A new cursor also keeps N acknowledged results.")
    ] = None,
    replay: Annotated[
        int | None, typer.Option(metavar="POSITION", min=1, help="With --durable: deliver again from this position on.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --durable: deliver again from this time on.")
    ] = None,
    when_slow: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="If the queue is full: drop_newest, drop_oldest or disconnect."),
    ] = None,
    times: Annotated[TimesAs, typer.Option(help="Times in results: microseconds, or ISO-8601.")] = "us",
    count: Annotated[int | None, typer.Option(metavar="N", min=1, help="End after N notifications.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", min=0.0, help="End after S seconds.")] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Subscribe to a pattern and print its results."""
    if query is not None and file is not None:
        raise DefinitionError("expected --query or --file, found both")
    from ..wire import check_when_slow  # imported here, because the other commands load no codec

    cursor = _cursor(durable, retain, replay, since)
    policy = check_when_slow(name, durable, when_slow)
    with (
        connect(broker) as client,
        _subscription(client, name, language, query, lineage, report, results, file, cursor, policy) as subscription,
    ):
        for warning in subscription.warnings:
            print(f"foretell: warning: {one_line(warning)}", file=sys.stderr)
        # A script that publishes next waits for this line.
        print(f"subscribed to {name}", file=sys.stderr, flush=True)
        deadline = None if timeout is None else time.monotonic() + timeout
        for _ in iter(int, 1) if count is None else range(count):
            rest = None if deadline is None else max(0.0, deadline - time.monotonic())
            notification = subscription.next(rest)
            if notification is None:
                break
            line = notification.line()
            sys.stdout.write(json_line(with_iso_times(line) if times == "iso" else line))
            sys.stdout.flush()
            if durable is not None:
                subscription.acknowledge()


def _cursor(name: str | None, retain: int | None, replay: int | None, since: str | None) -> Durable | None:
    from client import Durable

    if name is not None:
        return Durable(name, retain, replay, int(since) if since is not None and since.isdecimal() else since)
    for option, value in (("--retain", retain), ("--replay", replay), ("--since", since)):
        if value is not None:
            raise DefinitionError(f"expected --durable with {option}, found none")
    return None


def _subscription(
    client: Client,
    name: str,
    language: str,
    query: str | None,
    lineage: bool | None,
    report: Report | None,
    results: Results | None,
    path: Path | None,
    durable: Durable | None,
    when_slow: WhenSlow | None,
) -> Subscription:
    if path is None:
        judged: Any = language  # by the client
        return client.subscribe(
            name, judged, query, lineage, report, durable=durable, when_slow=when_slow, results=results
        )
    known = {each.name: each for each in declare_streams(client, path).subscriptions}
    if name not in known:
        raise UnknownSubscription(f"{path}: expected a subscription {name!r}, found none{suggestion(name, known)}")
    asked = known[name]
    with placed(str(path)):
        if lineage is not None:
            asked = replace(asked, lineage=lineage)
        if report is not None:
            asked = replace(asked, report=report)
        if results is not None:
            asked = replace(asked, results=results)
        return client.subscribe(
            name,
            cast("Any", asked.language),
            asked.query,
            asked.lineage,
            cast("Any", asked.report),
            asked.forecast,
            durable=durable,
            when_slow=when_slow,
            results=cast("Results | None", asked.results),
        )
