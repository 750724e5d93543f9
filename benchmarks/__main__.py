"""The command line, `python -m benchmarks [QUESTION ...] [OPTIONS]`. Nothing is measured here.

Without a question all are asked. `--quick` asks with few events, once, to see that everything runs: its numbers are
shown, but kept only where `--out` says so, never beside the real ones. `--repetitions` is for a first look. `--data`
says where data lie that are not part of the project; questions that need others are left out, or refused by name.
`forecast_quality` stands for all questions of docs/forecast-quality.md, and writes that page's tables anew.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from .forecasts import page
from .measuring import FULL, QUICK, BenchmarkError, Effort
from .provenance import provenance
from .questions import QUESTIONS, Question
from .report import show, write

RESULTS: Final = Path(__file__).parent / "results"
FORECAST_QUALITY: Final = "forecast_quality"
OF_THE_PAGE: Final = ("forecast_temperatures", "forecast_flights", "forecast_stocks", "forecast_synthetic")


def answer(question: Question, effort: Effort, console: Console) -> dict[str, Any]:
    """The whole answer: what was asked and where, how it is biased, and what was found."""
    where = provenance()  # before the load is our own
    with console.status(question.name) as status:
        found = question.ask(effort, lambda doing: status.update(f"{question.name}: {doing}"))
    head = {"question": question.text, "bias": list(question.bias)}
    return {**head, **where, "repetitions": effort.repetitions, **found}


def draw(question: Question, found: dict[str, Any], folder: Path, console: Console) -> None:
    """The question's pictures, where it has some and there is matplotlib."""
    if question.plot is None:
        return
    if find_spec("matplotlib") is None:
        console.print("no picture: matplotlib is missing (pip install 'foretell[plot]')", highlight=False)
        return
    for path in question.plot(found, folder / "plots"):
        console.print(f"drawn in {path}", highlight=False)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What Foretell costs, measured.")
    parser.add_argument(
        "questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(QUESTIONS)}, {FORECAST_QUALITY}"
    )
    parser.add_argument("--quick", action="store_true", help="few events, once: to see that it runs")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"where results go (default: {RESULTS.name}/ here)")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="data that a question needs")
    parser.add_argument("--repetitions", type=int, metavar="N", help=f"of each trial (default: {FULL.repetitions})")
    chosen = parser.parse_args(arguments)
    data: dict[str, Path] = {}
    for given in chosen.data:
        name, equals, path = given.partition("=")
        if not (name and equals and path):
            parser.error(f"--data: expected NAME=PATH, found {given!r}")
        data[name] = Path(path)
    effort = replace(QUICK if chosen.quick else FULL, data=data)
    if chosen.repetitions is not None:
        if chosen.repetitions < 1:
            parser.error(f"--repetitions: expected 1 or more, found {chosen.repetitions}")
        effort = replace(effort, repetitions=chosen.repetitions)
    whole = FORECAST_QUALITY in chosen.questions
    asked = [each for name in chosen.questions for each in (OF_THE_PAGE if name == FORECAST_QUALITY else (name,))]
    unknown = [name for name in asked if name not in QUESTIONS]
    if unknown:
        parser.error(f"unknown question {unknown[0]!r}; expected one of: {', '.join(QUESTIONS)}")
    folder: Path | None = chosen.out or (None if chosen.quick else RESULTS)
    # A table that is piped somewhere is not to be broken by the width of a terminal that is not there.
    console = Console(width=None if sys.stdout.isatty() else 150)
    for name in asked or QUESTIONS:
        question = QUESTIONS[name]
        missing = [f"--data {each}=PATH" for each in question.needs if each not in data]
        if missing:
            if asked:
                parser.error(f"{name}: expected {' '.join(missing)}")
            console.print(f"{name} left out: it needs {' '.join(missing)}", highlight=False)
            continue
        try:
            found = answer(question, effort, console)
        except BenchmarkError as error:
            print(f"benchmarks: {name}: {error}", file=sys.stderr)
            return 1
        show(console, found, question.table(found))
        if folder is not None:
            console.print(f"kept in {write(folder, name, found)}", highlight=False)
            draw(question, found, folder, console)
    if whole and folder == RESULTS:
        page.write()
        console.print(f"written into {page.PAGE}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
