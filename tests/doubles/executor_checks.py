"""The laws that the contract promises of every executor. A new one is tested by a line of
`tests/unit/engine/test_every_executor.py`: its name, a language, and a query with a place for a constant.

Here: those laws. Not here: what an executor finds (tests/laws compare it with the meaning).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from broker.engine import Engine, Options, planner
from broker.events.schema import Row

Check: TypeAlias = Callable[[random.Random], None]
Happened: TypeAlias = list[tuple[int, Row]]
Lines: TypeAlias = list[str]

SCHEMA: Final = {"k": "string", "p": "float", "v": "int"}
CONSTANTS: Final = (1, 2, 3)
LITTLE: Final = 25  # units of work, of which most queries need more


def check_executor(executor: str, language: str, query: str) -> Iterator[tuple[str, Check]]:
    """The name of each law, and a function that raises AssertionError if the executor breaks it. `query`: with {0} for
    a constant."""
    names = [row.plan.executor for row in planner.TABLE]
    before = tuple(names[: names.index(executor)])

    def made(**switches: int) -> Engine:
        engine = Engine(Options(executors_off=before, **switches))  # type: ignore[arg-type]
        engine.add_stream("S", SCHEMA)
        for constant in CONSTANTS:
            report = {"report": "completions"} if executor == "sequence_trie" else {}
            engine.subscribe(f"q{constant}", language, query.format(constant), lineage=True, **report)  # type: ignore[arg-type]
        return engine

    def runs(_: random.Random) -> None:
        program = made().program
        running = [program.machines.registrations.get(f"q{constant}") for constant in CONSTANTS]
        merged = planner.MERGED.executor
        assert all(executor == (merged if each is None else each.plan.executor) for each in running)

    def cut(chance: random.Random) -> None:
        history = events(chance)
        wanted = played(made(batches=False), history, one_by_one())
        assert any(wanted)
        for lengths in (whole(), one_by_one(), pieces(chance)):
            assert played(made(), history, lengths) == wanted

    def saved(chance: random.Random) -> None:
        history = events(chance)
        at = chance.randrange(len(history))
        first = made()
        found = played(first, history[:at], pieces(chance))
        again = Engine.restore(first.snapshot(), Options(executors_off=before))
        again.check_invariants()
        found += played(again, history[at:], pieces(chance))
        assert sorted(found) == played(made(), history, whole())

    def suspended(chance: random.Random) -> None:
        history = events(chance)
        limits = {"work_max": LITTLE, "work_earned": 1}
        one, other = made(**limits), made(batches=False, **limits)
        assert played(one, history, pieces(chance)) == played(other, history, one_by_one())
        assert one.statistics()["suspended"] == other.statistics()["suspended"]

    yield "it runs the query", runs
    yield "any cut of a stream gives the same results", cut
    yield "a snapshot changes nothing", saved
    yield "a budget ends at the same event", suspended


def events(chance: random.Random) -> Happened:
    """Some events in order, a few at the same moment."""
    time = 0
    found: Happened = []
    for _ in range(90):
        time += chance.choice((0, 1, 1, 1, 4))
        found.append((time, (chance.choice("AAB"), float(chance.randrange(5)), chance.randrange(4))))
    return found


def played(engine: Engine, history: Happened, lengths: Iterator[int]) -> Lines:
    """What a history completes, batch by batch, in the order of events."""
    found: Lines = []
    at = 0
    while at < len(history):
        part = history[at : at + next(lengths)]
        at += len(part)
        results = engine.publish("S", [time for time, _ in part], [row for _, row in part])
        own = [(match.end, str(match.line())) for match in results]
        assert [end for end, _ in own] == sorted(end for end, _ in own)
        found += [line for _, line in own]
        engine.check_invariants()
    return sorted(found)


def whole() -> Iterator[int]:
    yield 1 << 30


def one_by_one() -> Iterator[int]:
    while True:
        yield 1


def pieces(chance: random.Random) -> Iterator[int]:
    while True:
        yield chance.randrange(1, 20)
