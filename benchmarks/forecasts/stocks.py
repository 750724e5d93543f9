"""Daily closing prices as a walk, a data set in which there is next to nothing to forecast.

The file is Parquet with the columns symbol, date and close: that of the stocknet data set (88 symbols, 2012 to 2017).
The subscription is four closes of a symbol in a row, each above the one before. State r is "exactly r such rises in a
row", 4 is "four or more". What a chain knows beyond r is the market's; what it knows by r is the pattern's own: three
rises are closer to four than none, also for a coin.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from broker.events.schema import Row as EventRow
from broker.forecast.chain import MarkovChain, Shape, TransitionRow, chain_of, shape
from broker.forecast.passage import Passage, first_passage

from ..measuring import BenchmarkError
from .through_engine import Feed
from .walks import DAY, Walk

LENGTH: Final = 4
ALL: Final = frozenset(range(LENGTH))
TEST_FROM: Final = int(datetime(2016, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000


def closes(path: Path) -> Walk:
    """In the order of days, then symbols. Raises BenchmarkError if it cannot be read."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table
    except ImportError:
        raise BenchmarkError("stocks: pyarrow is missing: pip install 'foretell[parquet]'") from None
    try:
        table = read_table(path, columns=["symbol", "date", "close"])
        rows = zip(table["date"].to_pylist(), table["symbol"].to_pylist(), table["close"].to_pylist())
        ordered = sorted((day, symbol, close) for day, symbol, close in rows if close is not None)
    except (OSError, ArrowException, AttributeError, TypeError) as error:
        raise BenchmarkError(f"stocks: {path}: {str(error).splitlines()[0]}") from None
    names = sorted({symbol for _, symbol, _ in ordered})
    number = {name: place for place, name in enumerate(names)}
    found = Walk(names, [], [], [], LENGTH)
    rises = [0] * len(names)
    last = [float("inf")] * len(names)
    since = date(1970, 1, 1)
    for day, symbol, close in ordered:
        run = number[symbol]
        rises[run] = min(rises[run] + 1, LENGTH) if close > last[run] else 0
        last[run] = close
        found.runs.append(run)
        found.times.append((day - since).days * DAY)
        found.states.append(rises[run])
    return found


def form() -> Shape:
    """Each state leads to the next one or back."""
    return shape(LENGTH + 1, {LENGTH}, successors=[(0, min(state + 1, LENGTH)) for state in range(LENGTH + 1)])


def feed(walk: Walk) -> Feed:
    """What an engine is told of it: whether a close was above the one before."""

    def row(event: int) -> EventRow:
        return walk.names[walk.runs[event]], walk.states[event] > 0

    return Feed({"symbol": "string", "rise": "bool"}, "symbol", "rise = true", LENGTH, row)


def coin(chance: float, horizon: int) -> Passage:
    """First passages if every rise were the throw of one coin."""
    rows = [TransitionRow((0, min(state + 1, LENGTH)), (1.0 - chance, chance)) for state in range(LENGTH + 1)]
    chain: MarkovChain = chain_of(form(), rows)
    return first_passage(chain, horizon)


def rise_rate(walk: Walk, before: int) -> float:
    """The share of rises among the days before a time, each symbol's first day left out."""
    days = rises = 0
    seen: set[int] = set()
    for run, time, state in zip(walk.runs, walk.times, walk.states):
        if time < before and run in seen:
            days += 1
            rises += state > 0
        seen.add(run)
    return rises / max(days, 1)
