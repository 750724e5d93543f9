"""The output of the demonstration: notifications as coloured lines, then a summary with a legend."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...build import PURE, build
from .patterns import LATE_AGAIN, PATTERNS, DemoPattern

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BY_NAME: Final[Mapping[str, DemoPattern]] = {pattern.name: pattern for pattern in (*PATTERNS, LATE_AGAIN)}
_WIDTH: Final = max(map(len, _BY_NAME))


@final
class Screen:
    """Writes in colours to a terminal, and in plain lines to anything else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def opening(self, events: int, first: date, days: int, seconds: float, address: str) -> None:
        """Print what the demonstration is going to do."""
        self._console.print(
            f"[bold]New York's flights, {written_days(first, days)}[/bold]: {events:,} departures and arrivals"
            f" within {seconds:g} s, through a broker process at {address}. Times are those of New York's clocks."
        )
        print_pure(self._console)
        self._console.print()

    def notification(self, line: Mapping[str, Any]) -> None:
        """Print one notification."""
        pattern = _BY_NAME[line["subscription"]]
        if pattern is LATE_AGAIN:
            self._foretold(line)
            return
        if line["kind"] != "match":
            self._console.print(f"{pattern.name}: {line}", style="bold red", soft_wrap=True)
            return
        data = line["data"]
        end, start = local_time(line["end"]), local_time(line["start"])
        since = f"since {start:%H:%M}" if start.date() == end.date() else f"since {start:%a %H:%M}"
        text = Text.assemble(
            (f"{end:%a %d %b %H:%M}  ", "dim"),
            (f"{pattern.name:<{_WIDTH}}  ", pattern.colour),
            (f"{data['tail']}  ", "bold"),
            pattern.story.format_map(data),
            (f"  ({since})", "dim"),
        )
        self._console.print(text, soft_wrap=True)

    def learning(self, events: int, until: date) -> None:
        """Print how many earlier departures the broker has learnt from."""
        self._console.print(
            f"The broker has counted {events:,} departures since 1 January, and goes on counting. From these counts it"
            f" estimates how likely a late aircraft is to be late again.\n"
        )

    def _foretold(self, line: Mapping[str, Any]) -> None:
        """Print a forecast or its resolution. Matches without a forecast are only counted."""
        match line["kind"]:
            case "forecast":
                low, high = line["interval"]
                begun = "again" if line["label"] == "match" else line["label"]
                what = (
                    f"{begun}: a third late departure in a row within {line['within']} is"
                    f" {line['probability']:.0%} likely ({low:.0%} to {high:.0%})"
                )
            case "resolution" if line["outcome"] is True:
                what = f"it came true, {line['lead']} departure{'s' if line['lead'] > 1 else ''} later"
            case "resolution" if line["outcome"] is False:
                what = "it did not come true"
            case _:
                return
        text = Text.assemble(
            (f"{local_time(line['time']):%a %d %b %H:%M}  ", "dim"),
            (f"{LATE_AGAIN.name:<{_WIDTH}}  ", LATE_AGAIN.colour),
            (f"{line['run']}  ", "bold"),
            what,
        )
        self._console.print(text, soft_wrap=True)

    def quality(self, found: Mapping[str, Any]) -> None:
        """Print how reliable the forecasts were, from the broker's statistics."""
        skill = found["brier_skill"]
        text = Text.assemble(
            (f"{LATE_AGAIN.name}", LATE_AGAIN.colour),
            f": {LATE_AGAIN.meaning}. Of {found['notices']} forecasts",
            "" if found["precision"] is None else f" {found['precision']:.0%} came true;",
            f" the {found['predictions']:,} probabilities, including those below the threshold, were off by"
            f" {found['ece']:.1%} on average",
            "" if skill is None else f" and {skill:.0%} better (Brier score) than always predicting the base rate",
            f" of {found['base_rate']:.0%}.",
        )
        self._console.print(text)

    def summary(self, events: int, publishing_seconds: float, counts: Mapping[str, int]) -> None:
        """Print the counts, and what each pattern means."""
        table = Table(title="Notifications", title_justify="left", title_style="bold", padding=(0, 1), expand=False)
        table.add_column("pattern", no_wrap=True)
        table.add_column("number", justify="right")
        table.add_column("meaning")
        for pattern in PATTERNS:
            table.add_row(Text(pattern.name, pattern.colour), str(counts[pattern.name]), pattern.meaning)
        self._console.print()
        self._console.print(table)
        self._console.print(
            f"{events:,} events, {sum(counts.values()):,} notifications. Publishing the events in small batches, and"
            f" waiting for the broker's answer to each batch, took {publishing_seconds:.2f} s:"
            f" {events / max(publishing_seconds, 1e-9):,.0f} events/s."
        )


def written_days(first: date, days: int) -> str:
    """Return the days as people write them."""
    last = first + timedelta(days=days - 1)
    return f"{first:%-d %B %Y}" if days == 1 else f"{first:%-d %B} to {last:%-d %B %Y}"


def print_pure(console: Console) -> None:
    """Print that the engine is pure Python, if it is."""
    if build() == PURE:
        console.print("The engine is pure Python. `pip install .` compiles it, in two minutes.", style="dim")


def local_time(time: int) -> datetime:
    """Return New York's time of a time of the data."""
    return _EPOCH + timedelta(microseconds=time)
