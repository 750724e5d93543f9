"""Every language's first query at the size of real use: the figures of docs/limits.md, printed as its table.

    python -m benchmarks.growth.first_queries [--packages .venv/native] [--count 100000] [LANGUAGE ...]

The queries are read from the pages that introduce the languages. Each gets events that fit it, a millisecond apart:
`count` events of one key; and `count` keys in turn, 4 events each, so that each key has matches. A fresh process takes
them in batches of 1,000 and reads all results. Time is processor time of publishing and reading; memory is the most
that was resident beyond the engine with its subscription, so that it holds what one batch needs, too. A case that takes
more than `--seconds` or `--megabytes` is given up: the table has how far it came.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..measuring import ROOT, trial
from .first_queries_trial import Figures

MODULE: Final = "benchmarks.growth.first_queries"
ROUNDS: Final = 4  # events of each key where there are many
HEAD: Final = ("| language | keys | events | an event | memory | matches |", "|---|---|---|---|---|---|")
_FENCE: Final = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_QUERY: Final = '\n[subscriptions.q]\nlanguage = "{language}"\nlineage = true\nquery = \'\'\'\n{query}\'\'\'\n'


@dataclass(frozen=True, slots=True)
class First:
    """A language's first query. `block`: the info string of its block in `page`, a subscription file where it names
    one, else a query over the streams of the page."""

    title: str
    page: str
    block: str


FIRST: Final = {
    "cayuga": First("CEL", "README.md", "toml file=jumps.toml"),
    "sase": First("SASE+", "README.md", "toml file=in-a-row.toml"),
    "ptopss": First("P-ToPSS", "README.md", "toml file=intrusion.toml"),
    "afa": First("AFA", "docs/afa.md", "afa"),
    "window": First("windows", "docs/windows.md", "window"),
}


def subscription(language: str) -> str:
    """A subscription file with the language's first query, from its page. Raises StopIteration where there is none."""
    first = FIRST[language]
    found = list(_FENCE.finditer((ROOT / first.page).read_text(encoding="utf-8")))
    text = next(each["text"] for each in found if each["info"] == first.block)
    if first.block.startswith("toml"):
        return text
    streams = next(each["text"] for each in found if each["info"] == "toml streams")
    return streams + _QUERY.format(language=language, query=text)


def lines(language: str, of_one: Figures, of_many: Figures, keys: int) -> Iterator[str]:
    """Rows of the table."""
    first = FIRST[language]
    for figures, number in ((of_one, 1), (of_many, keys)):
        each = figures["seconds"] / figures["events"] * 1e6
        cost = f"{each:,.0f} us" if each >= 10 else f"{each:.1f} us"
        size = f"{figures['bytes'] / 2**20:,.0f} MB"
        told = f"{figures['matches']:,}"
        if figures["incomplete"]:
            told += f", and {figures['incomplete']:,} `incomplete`"
        if figures["given_up"] is not None:
            told += f"; given up at {figures['given_up']}"
        yield f"| {first.title} | {number:,} | {figures['events']:,} | {cost} | {size} | {told} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description="Every language's first query, grown.")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"of {', '.join(FIRST)}")
    parser.add_argument("--packages", default=str(ROOT), metavar="FOLDER", help="where Foretell's packages lie")
    parser.add_argument("--count", type=int, default=100_000, metavar="N", help="events of one key, and keys")
    parser.add_argument("--seconds", type=float, default=300.0, metavar="N", help="after which a case is given up")
    parser.add_argument("--megabytes", type=int, default=4_096, metavar="N", help="the same of memory")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.languages if name not in FIRST]
    if unknown or chosen.count < 1:
        parser.error(f"unknown language {unknown[0]!r}" if unknown else f"--count: expected 1 or more: {chosen.count}")
    folder = Path(chosen.packages).resolve()
    print(*HEAD, sep="\n", flush=True)
    for language in chosen.languages or FIRST:
        limits = {"language": language, "seconds": chosen.seconds, "megabytes": chosen.megabytes}
        job = {**limits, "text": subscription(language)}
        of_one, of_many = (
            trial(f"{MODULE}_trial", {**job, "keys": keys, "rounds": rounds}, folder=folder)
            for keys, rounds in ((1, chosen.count), (chosen.count, ROUNDS))
        )
        print(*lines(language, of_one, of_many, chosen.count), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
