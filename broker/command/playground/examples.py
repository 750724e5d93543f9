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
    events: str
    stream: str | None = None
    time: str | None = None

    def title(self) -> str:
        """The first line of its subscription file, which is a comment."""
        return example_text(self.name).partition("\n")[0].removeprefix("# ").rstrip(".")


EXAMPLES: Final = (
    PlaygroundExample("stocks", "stocks.csv", "Stock", "day"),
    PlaygroundExample("logins", "logins.jsonl"),
    PlaygroundExample("orders", "orders.jsonl"),
    PlaygroundExample("weather", "weather.csv", "Reading", "time"),
    PlaygroundExample("cooling", "weather.csv", "Reading", "time"),
)


def example_file(name: str) -> Path:
    """A file of the examples."""
    return Path(str(files(__package__).joinpath("assets", name)))


def example_text(name: str) -> str:
    """The subscription file of an example."""
    return example_file(f"{name}.toml").read_text("utf-8")
