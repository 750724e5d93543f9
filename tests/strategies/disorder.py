"""An engine in disorder under random steps, and what must stand in the end: the meaning of the events that stand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import note
from strategies.afa import SCHEMA, Insertion, Punctuation, Update, Withdrawal

from broker.algebra.afa.lowering import lower, lower_arcs
from broker.algebra.afa.register_automaton import NEVER_ENDED, RegisterAutomaton
from broker.algebra.afa.semantics import LivingEvent, results
from broker.engine import Engine, Match
from broker.events.errors import DuplicateEvent, LateEvent, UnknownEvent
from broker.events.schema import Schema
from broker.language.afa import parse, parse_arc

ATTRIBUTES = {"k": "string?", "ty": "string", "x": "int?"}
Standing = tuple[object, ...]


class Told:
    """What an engine has told and not withdrawn, by subscription; and that it does so lawfully."""

    def __init__(self) -> None:
        self.standing: dict[str, dict[str, Match]] = {}
        self.log: dict[str, list[dict[str, Any]]] = {}
        self.final: dict[str, int] = {}
        self.notices: list[Match] = []

    def add(self, found: Any) -> None:
        assert len(found) == len(list(found))
        for at, each in enumerate(found):
            assert found[at].line() == each.line()
            own = self.standing.setdefault(each.subscription, {})
            if each.kind == "punctuation":
                self.notices.append(each)
                if each.notice.key is not None:
                    continue
                assert each.notice.time > self.final.get(each.subscription, -9)
                self.final[each.subscription] = each.notice.time
                self.log.setdefault(each.subscription, []).append(each.line())
                continue
            assert each.end >= self.final.get(each.subscription, -9), "what is final changes no more"
            self.log.setdefault(each.subscription, []).append(each.line())
            if each.kind == "match":
                assert each.id not in own, "nothing is told twice"
                own[each.id] = each
            else:
                assert each.kind == "retraction"
                assert own.pop(each.id) == each._replace(withdrawn=False), "only what stands is withdrawn"

    def of(self, name: str) -> list[Standing]:
        found = self.standing.get(name, {}).values()
        return sorted(
            ((m.start, m.end, tuple(m.lineage or ()), m.lifetime, tuple(m.data.values())) for m in found), key=repr
        )


def typed(text: str, schema: Schema = SCHEMA, name: str = "S") -> RegisterAutomaton:
    return lower(parse(text), text, {name: schema, "T": schema}.get, lambda: [name])


def meant(
    registers: RegisterAutomaton, events: list[LivingEvent], behind: dict[int, tuple[int, ...]]
) -> list[Standing]:
    """All results, each with the ids behind the events of streams that are made of results."""
    times = {event.id: event.time for event in events}
    found = []
    for one in results(registers, events):
        lineage = tuple(number for id in one.lineage for number in behind.get(id, (id,)))
        end = None if registers.within is None else one.end
        found.append((times[one.lineage[0]], one.begin, lineage, (one.begin, end), one.registers))
    return sorted(found, key=repr)


class Play:
    """An engine, the events that stand, and the arcs as they are. With `other`, every second event is one of another
    stream, with that disorder."""

    def __init__(
        self,
        texts: list[str],
        uppers: list[str],
        mode: str,
        disorder: Any = "speculate",
        other: Any = None,
        speculation: int | None = None,
    ) -> None:
        self.engine = Engine()
        self.engine.add_stream("S", ATTRIBUTES, disorder=disorder, speculation=speculation)
        self.streams = "S" if other is None else "ST"
        if other is not None:
            self.engine.add_stream("T", ATTRIBUTES, disorder=other)
            self.engine.punctuate(-5, "S")  # otherwise a stream that has not begun holds nothing back
            texts = [text.replace("FROM S", "FROM S, T", 1) for text in texts]
        self.typed = {}
        for at, text in enumerate(texts):
            self.typed[f"q{at}"] = typed(text)
            published = f"{text} PUBLISH D" if uppers else text
            self.engine.subscribe(f"q{at}", "afa", published, results="each" if uppers else mode)
        for at, text in enumerate(uppers):
            self.engine.subscribe(f"u{at}", "afa", text, results=mode)
        self.told = Told()
        self.events: dict[int, LivingEvent] = {}
        self.newest = -1
        self.promised = -1

    def step(self, step: Any) -> None:
        match step:
            case Insertion(event):
                if event.id in self.events and self.in_order(event.id):
                    return  # it was not withdrawn; ids in order are not compared
                stream = event.id % len(self.streams)
                columns = [event.time], [event.row], [event.id]
                try:
                    self.told.add(self.engine.publish(self.streams[stream], *columns))
                except (LateEvent, DuplicateEvent):
                    assert self.in_order(event.id)
                    return
                self.events[event.id] = LivingEvent(event.id, event.time, stream, event.row)
                self.newest = max(self.newest, event.time)
            case Withdrawal(id) if self.in_order(id):
                with pytest.raises(UnknownEvent):
                    self.engine.retract(id)
            case Withdrawal(id):
                del self.events[id]
                self.told.add(self.engine.retract(id))
            case Punctuation(time):
                self.promised = max(self.promised, time)
                self.told.add(self.engine.punctuate(time))
            case Update(arc, begin, end):
                inserts = ":" in arc
                if inserts or any(each.name == arc for each in self.typed["q0"].arcs):
                    self.told.add(
                        self.engine.update("q0", [arc] if inserts else [], [] if inserts else [arc], begin, end)
                    )
                    self.update(arc, begin, end)

    def update(self, arc: str, begin: int | None, end: int | None) -> None:
        first = max(self.newest + 1, self.promised) if begin is None else begin
        last = NEVER_ENDED if end is None else end
        before = self.typed["q0"]
        if ":" in arc:
            self.typed["q0"] = before.inserted(lower_arcs(before, parse_arc(arc), arc), first, last)
        else:
            self.typed["q0"] = before.deleted(arc, first, last)

    def in_order(self, id: int) -> bool:
        """Whether the event is of a stream whose late events are refused."""
        stream = self.streams[id % len(self.streams)]
        return self.engine.streams[stream].disorder == "arrival"

    def restart(self) -> None:
        again = Engine.restore(self.engine.snapshot())
        assert again.snapshot() == self.engine.snapshot()
        self.engine = again

    def all(self, batches: list[list[Any]], cut: int) -> None:
        for step in [step for batch in batches for step in batch]:
            note(f"{step}")
            self.step(step)
            self.engine.check_invariants()
            if cut == 0:
                self.restart()
            cut -= 1
        self.told.add(self.engine.finish())
