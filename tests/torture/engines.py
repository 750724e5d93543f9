"""The compiled engine against the interpreted one at the extremes: `python -m torture.engines COUNT [SEED]`.

Run in tests/, with the compiled packages on PYTHONPATH. A case is a random program of subscriptions of all languages
and a random stream, whose literals, times, ids and values lie at the ends of what some representation holds, or beyond.
This process plays it on the packages that it has imported, another one on the sources. Equal are all results with their
ids and values, every refusal in its words, the bytes of a snapshot, and the statistics. No exception is anything else
than a refusal, and no mistake suspends a subscription. A failure ends it with the smallest case that was found.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from time import monotonic
from typing import IO, Any, Final

from doubles.broker_process import ROOT, python_process
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from strategies.extremes import ATTRIBUTES, STREAM, batches, programs

from broker.engine import Engine, Options
from broker.engine import results as built
from broker.events import ForetellError

SWITCHES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"indexes": False},
    {"columns": False},
)

_PLAYER: Final = """
    import sys
    sys.path[:0] = sys.argv[1:]
    from torture.engines import play_all
    play_all()
"""

cases: Final = st.fixed_dictionaries(
    {
        "program": programs(),
        "batches": batches(),
        "cut": st.integers(0, 6),
        "key": st.sampled_from([None, "ty"]),
        "switches": st.sampled_from(SWITCHES),
    }
)


def play(case: dict[str, Any]) -> dict[str, Any]:
    """All that an engine answers to a case, as values of JSON."""
    options = Options(**case["switches"])
    engine = Engine(options)
    engine.add_stream(STREAM, ATTRIBUTES, key=case["key"])
    refused: list[str] = []
    told: list[Any] = []
    for number, (language, text, report, forecast) in enumerate(case["program"]):
        try:
            engine.subscribe(f"q{number}", language, text, True, report, forecast)
        except ForetellError as error:
            refused.append(f"{type(error).__name__}: {error}")
    for number, batch in enumerate(case["batches"]):
        if number == case["cut"]:
            saved = engine.snapshot()
            told.append(blake2b(saved, digest_size=16).hexdigest())
            engine = Engine.restore(saved, options)
        times, starts, ids, rows = zip(*batch)
        try:
            told += [each.line() for each in engine.publish(STREAM, times, list(map(tuple, rows)), ids, starts)]
        except ForetellError as error:
            refused.append(f"{type(error).__name__}: {error}")
        engine.check_invariants()
    told += [each.line() for each in engine.finish()]
    engine.check_invariants()
    assert not engine.failures, engine.failures
    return {"told": told, "refused": refused, "statistics": engine.statistics()}


def play_all() -> None:
    """What `Other` has at the other end: a case a line, an answer a line."""
    assert built.__file__.endswith(".py"), "expected the sources"
    for line in sys.stdin:
        print(json.dumps(play(json.loads(line)), sort_keys=True), flush=True)


class Other:
    """An engine of the sources, in a process of its own."""

    def __init__(self, into: IO[str], out: IO[str], complaints: IO[str]) -> None:
        self._into = into
        self._out = out
        self._complaints = complaints

    def ask(self, text: str) -> None:
        """Have it play a case."""
        self._into.write(text + "\n")
        self._into.flush()

    def answer(self) -> str:
        """What it has written of the case."""
        answer = self._out.readline()
        assert answer, self._complaints.read()
        return answer.rstrip("\n")


@contextmanager
def other_engine() -> Iterator[Other]:
    """It ends with the block."""
    with python_process(_PLAYER, str(ROOT), str(ROOT / "tests")) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        yield Other(process.stdin, process.stdout, process.stderr)


def attack(count: int, first: int) -> Counter[str]:
    """So many cases, on both: what was met."""
    met: Counter[str] = Counter()
    quiet = settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    with other_engine() as other:

        @seed(first)
        @quiet
        @given(cases)
        def equal(case: dict[str, Any]) -> None:
            text = json.dumps(case)
            note(text)
            other.ask(text)
            try:
                here = json.dumps(play(json.loads(text)), sort_keys=True)
            finally:
                there = other.answer()
            assert here == there
            answer = json.loads(here)
            met["engines"] += 1
            met["results"] += sum(type(each) is dict for each in answer["told"])
            met["snapshots"] += sum(type(each) is str for each in answer["told"])
            met.update(each.partition(":")[0] for each in answer["refused"])

        equal()
    return met


def main(count: int, first: int = 0) -> None:
    assert not built.__file__.endswith(".py"), "expected the compiled packages first on PYTHONPATH"
    begun = monotonic()
    met: Counter[str] = Counter()
    part = 0
    while met["engines"] < count:
        met.update(attack(min(2_000, count - met["engines"]), first + part))
        part += 1
    print(f"{met['engines']:,} engines, compiled and not, from seed {first} on, {monotonic() - begun:.0f} s: equal")
    print(dict(met.most_common()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
