"""The examples that come along: a subscription file and events each, in the folder `assets`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, final


@final
@dataclass(frozen=True, slots=True)
class PlaygroundExample:
    """`events`: the file; `stream` and `time`: what a table of events does not say itself."""

    name: str
    title: str
    about: str
    events: str
    stream: str | None = None
    time: str | None = None


EXAMPLES: Final = (
    PlaygroundExample(
        "stocks",
        "Stock prices (CEL)",
        "Rising runs and falls of five stocks in 2012, a day an event.",
        "stocks.csv",
        "Stock",
        "day",
    ),
    PlaygroundExample(
        "logins",
        "Logins (SASE+)",
        "Denied logins in a row, and those that end in an accepted one.",
        "logins.jsonl",
    ),
    PlaygroundExample(
        "orders",
        "Orders (P-ToPSS)",
        "Orders that are paid and packed in any order, then sent; and those that took long.",
        "orders.jsonl",
    ),
    PlaygroundExample(
        "weather",
        "Weather (windows)",
        "Cold nights at three airports: the longest windows in which it freezes.",
        "weather.csv",
        "Reading",
        "time",
    ),
    PlaygroundExample(
        "cooling",
        "Cooling (AFA)",
        "Three hours, each colder than the one before, told at once.",
        "weather.csv",
        "Reading",
        "time",
    ),
)


def example_file(name: str) -> Path:
    """A file of the examples."""
    return Path(str(files(__package__).joinpath("assets", name)))


def example_text(name: str) -> str:
    """The subscription file of an example."""
    return example_file(f"{name}.toml").read_text("utf-8")
