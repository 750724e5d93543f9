"""Merged AFA subscriptions: each has the results, with the digests, that it would have alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from strategies.afa import SCHEMA, Insertion, Punctuation, Withdrawal, alike_texts, scripts

from broker.algebra.afa.lowering import lower
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.registers import automaton_of_registers
from broker.engine.executors.speculative.merging import merged, merging_key
from broker.engine.executors.speculative.speculation import Speculation
from broker.language.afa import parse


def automaton(text: str) -> Automaton:
    return automaton_of_registers(lower(parse(text), text, {"S": SCHEMA}.get, lambda: ["S"]))


def told(speculation: Speculation, batches: list[list[Any]]) -> Counter[tuple[Any, ...]]:
    """How often each result is there in the end; a state is told by its number among the final ones."""
    found: Counter[tuple[Any, ...]] = Counter()
    events: dict[int, Any] = {}
    for batch in batches:
        for step in batch:
            match step:
                case Insertion(event):
                    events[event.id] = event
                    speculation.take(event.stream, event.time, event.id, event.id, (*event.row, event.time))
                case Withdrawal(id):
                    event = events[id]
                    speculation.retract(event.stream, event.time, id, event.row)
                case Punctuation(time):
                    speculation.punctuate(time)
        changes = speculation.settle()
        for at in map(changes.place, range(changes.left)):
            final = int(changes.state(at)) - speculation.automaton.final
            lineage = tuple(changes.lineage_of(at))
            key = (final, changes.registers(at), int(changes.time(at)), int(changes.digest(at)), lineage)
            found[key] += 1 if changes.inserted(at) else -1
        speculation.check_invariants()
    return +found


@given(alike_texts(), scripts(updates=False))
def test_merged_subscriptions_have_the_results_of_each_alone(texts: list[str], batches: list[list[Any]]) -> None:
    automata = [automaton(text) for text in texts]
    automata = [each for each in automata if merging_key(each) == merging_key(automata[0])]
    whole = merged(automata)
    together = told(Speculation(whole.automaton, labels=whole.labels), batches)
    for number, each in enumerate(automata):
        alone = told(Speculation(each), batches)
        own: Counter[tuple[Any, ...]] = Counter()
        for (final, *rest), times in together.items():
            owner, operand = whole.owners[final]
            if owner == number:
                own[operand, *rest] += times
        assert own == alone


def test_words_share_what_they_begin_with() -> None:
    texts = [
        "FROM S\nSTART a\nFINAL d\na -> b WHEN ty = 'A'\nb -> c WHEN ty = 'B'\nc -> d WHEN x = 1",
        "FROM S\nSTART a\nFINAL d\na -> b WHEN ty = 'A'\nb -> c WHEN ty = 'B'\nc -> d WHEN x = 2",
        "FROM S\nSTART a\nFINAL d\na -> b WHEN ty = 'A'\nb -> c WHEN ty = 'C'\nc -> d WHEN x = 2",
    ]
    whole = merged([automaton(text) for text in texts])
    assert len(whole.automaton.states) == 1 + 1 + 2  # a, b, and two of c; no run is in a final state
    assert whole.owners == [(0, 0), (1, 0), (2, 0)]
