"""The output of the demonstration in disorder: matches, what is withdrawn and why, and what is final; a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from statistics import mean, median
from typing import Any, Final, final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .flights import MINUTE, Departure
from .patterns import REVISED, DemoPattern
from .screen import local_time, print_pure, written_days
from .standing import StandingMatches

_BY_NAME: Final[Mapping[str, DemoPattern]] = {pattern.name: pattern for pattern in REVISED}
_WIDTH: Final = max(map(len, _BY_NAME))
_SHOWN: Final[Mapping[str, tuple[str, str]]] = {
    "match": ("match", "green"),
    "retraction": ("withdrawn", "red"),
    "punctuation": ("final", "blue"),
}
_HOUR: Final = 60 * MINUTE


@final
class DisorderScreen:
    """Writes in colours to a terminal, and in plain lines to anything else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def opening(self, events: int, overtaken: int, first: date, days: int, lateness: int, address: str) -> None:
        """Print what the demonstration is going to do."""
        self._console.print(
            f"[bold]New York's departures, {written_days(first, days)}, in disorder[/bold]: {events:,} departures,"
            f" through a broker process at {address}. Each is published when it leaves, and has the time at which it"
            f" was due: {overtaken:,} come after one that was due later. The patterns are over the schedule. A match is"
            f" told at once, withdrawn if a late flight disproves it, and final once every flight due up to then must"
            f" have left: the stream promises that none leaves more than {lateness // _HOUR} hours late. Times are"
            f" those of New York's clocks."
        )
        print_pure(self._console)
        self._console.print()

    def result(self, line: Mapping[str, Any], now: int, arrived: Sequence[Departure], took: int, open_: int) -> None:
        """Print one result that came at `now` with the reports `arrived`, unless it is a promise about no match.

        `took`: how long a withdrawn match had stood, or how many matches became final; `open_`: how many are not.
        """
        pattern = _BY_NAME[line["subscription"]]
        if line["kind"] not in _SHOWN:
            self._console.print(f"{pattern.name}: {line}", style="bold red", soft_wrap=True)
            return
        if line["kind"] == "punctuation" and not took:
            return
        what, colour = _SHOWN[line["kind"]]
        text = Text.assemble(
            (f"{local_time(now):%a %d %b %H:%M}  ", "dim"),
            (f"{pattern.name:<{_WIDTH}}  ", pattern.colour),
            (f"{what:<9}  ", colour),
        )
        if line["kind"] == "punctuation":
            text.append(
                f"all that was due before {_due(line['time'])}: {took} match{'es' if took > 1 else ''} more;"
                f" {open_} can still be withdrawn"
            )
        else:
            text.append(pattern.story.format_map(line["data"]))
            text.append(f"  (due {_due(line['start'])} to {_due(line['end'])})", "dim")
        if line["kind"] == "retraction":
            text.append(f"  told {_long(took)} ago{_cause(line, arrived)}", "dim")
        self._console.print(text, soft_wrap=True)

    def summary(self, events: int, refused: int, lateness: int, standing: Mapping[str, StandingMatches]) -> None:
        """Print what became of the matches of each pattern, and how much earlier they were told than final."""
        table = Table(title="Matches", title_justify="left", title_style="bold", padding=(0, 1), expand=False)
        table.add_column("pattern", no_wrap=True)
        for column in ("told", "withdrawn", "final"):
            table.add_column(column, justify="right")
        table.add_column("meaning")
        for pattern in REVISED:
            found = standing[pattern.name]
            counts = (found.matches, len(found.withdrawn_after), found.final)
            table.add_row(Text(pattern.name, pattern.colour), *map(str, counts), pattern.meaning)
        self._console.print()
        self._console.print(table)
        told = sum(found.matches for found in standing.values())
        waits = [wait for found in standing.values() for wait in found.final_after]
        stood = [wait for found in standing.values() for wait in found.withdrawn_after]
        text = (
            f"{events:,} departures, {told:,} matches, {len(stood):,} withdrawn. What is final is what the flights"
            f" give in the order of their schedule."
        )
        if waits:
            text += f" A match was told {_long(round(mean(waits)))} before it was final, on average."
        if stood:
            text += f" Half of those withdrawn had stood for {_long(round(median(stood)))} at most."
        if refused:
            text += (
                f" {refused} departure{'s' if refused > 1 else ''} broke the promise of {lateness // _HOUR} hours and"
                f" {'were' if refused > 1 else 'was'} refused."
            )
        self._console.print(text)


def _cause(line: Mapping[str, Any], arrived: Sequence[Departure]) -> str:
    """Name a flight that arrived now, was due during the match and concerns it: what withdrew it.

    A pattern over results may have no such flight, as it begins and ends where results end.
    """
    of_match = set(line["data"].values())
    during = [report for report in arrived if line["start"] <= report.scheduled <= line["end"]]
    found = next((report for report in during if of_match.issuperset((report.row[1], report.row[3]))), None)
    if found is None:
        return ""
    _, carrier, flight, _, destination, _ = found.row
    return f", until {carrier} {flight} to {destination}, due {_due(found.scheduled)}, left"


def _due(time: int) -> str:
    return f"{local_time(time):%H:%M}"


def _long(duration: int) -> str:
    hours, minutes = divmod(duration // MINUTE, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
