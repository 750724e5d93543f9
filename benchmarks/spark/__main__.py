"""The command line, `python -m benchmarks.spark [QUESTION ...] [OPTIONS]`. Nothing is measured here.

    python -m benchmarks.spark training --events 5000000 --subscriptions 1 1000 --repetitions 3
    python -m benchmarks.spark memory broadcast patterns --events 1000000

Answers go to benchmarks/results/spark_QUESTION.json, or where --out says; each in a process of its own would be more
exact, as a JVM is never the same again: ask one question at a time for figures that are kept.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from ..provenance import provenance
from . import broadcast, memory, patterns, training

RESULTS: Final = Path(__file__).parents[1] / "results"
QUESTIONS: Final = ("training", "memory", "broadcast", "patterns")
BIAS: Final = [
    "One machine: Spark's driver, JVM and workers share its cores, and nothing goes over a network.",
    "The embedded processes have no scheduler, no failures to survive, and know their shares beforehand.",
    "Spark's start is not in the figures: it is start_seconds.",
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description="What Spark costs and buys.")
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"of {', '.join(QUESTIONS)} (default: all)")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[1, 1_000])
    parser.add_argument("--sent", type=int, nargs="+", default=[100_000], help="subscriptions that are broadcast")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--no-flink", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    for name in chosen.questions or QUESTIONS:
        if name not in QUESTIONS:
            parser.error(f"unknown question {name!r}; expected one of: {', '.join(QUESTIONS)}")
    for name in chosen.questions or QUESTIONS:
        where = provenance(("pyspark", "pyarrow"))
        with tempfile.TemporaryDirectory(prefix="foretell-spark-") as folder:
            found = _ask(name, chosen, Path(folder))
        answer = {"question": f"spark {name}", "bias": BIAS, **where, **found}
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / f"spark_{name}.json").write_text(json.dumps(answer, indent=1) + "\n")
        print(json.dumps(found, indent=1))


def _ask(name: str, chosen: argparse.Namespace, folder: Path) -> dict[str, Any]:
    match name:
        case "training":
            return training.ask(chosen.events, chosen.subscriptions, chosen.master, chosen.repetitions, folder)
        case "memory":
            return memory.ask(chosen.events, chosen.master, folder)
        case "broadcast":
            return broadcast.ask(chosen.sent, chosen.master)
        case _:
            return patterns.ask(chosen.events, chosen.master, chosen.repetitions, folder, not chosen.no_flink)


if __name__ == "__main__":
    main()
