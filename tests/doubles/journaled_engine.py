"""An engine as the state of a journal: what a broker does with records, without a broker. Keeps the results it made."""

from __future__ import annotations

from typing import Any, cast

from broker.engine import Engine
from broker.events import Disorder, TimeUnit
from broker.kernel.records import (
    AttributeAdded,
    BatchTaken,
    GapDeclared,
    Punctuated,
    Record,
    Retracted,
    StreamClocked,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    TimeWasReset,
    Updated,
)
from broker.storage.engine_digest import engine_digest


class JournaledEngine:
    def __init__(self) -> None:
        self.engine = Engine()
        self.lines: dict[int, list[dict[str, Any]]] = {}  # by the position of the record that caused them

    def replay(self, position: int, time: int, record: Record) -> None:
        match record:
            case StreamDeclared():
                order = cast("Disorder", record.disorder), record.lateness, record.speculation, record.idle
                unit = cast("TimeUnit | None", record.time_unit)
                self.engine.add_stream(record.name, record.attributes, record.key, *order, unit, record.sequence)
            case SubscriptionAdded():
                self.engine.subscribe(
                    record.name,
                    language=record.language,
                    query=record.query,
                    lineage=record.lineage,
                    report=record.report,
                    forecast=record.forecast,
                    results=record.options.get("results"),
                )
            case SubscriptionRemoved(name):
                self.engine.unsubscribe(name)
            case SubscriptionReplaced(name):
                told = self.engine.replace(name, record.query, record.language, record.keep_runs)
                self.lines[position] = [result.line() for result in told]
            case AttributeAdded():
                self.engine.add_attribute(record.stream, record.attribute, record.type)
            case StreamRemoved(name):
                self.lines[position] = [result.line() for result in self.engine.remove_stream(name)]
            case BatchTaken():
                rows = [tuple(row) for row in record.rows]
                results = self.engine.publish(record.stream, record.times, rows, record.ids, record.starts)
                self.lines[position] = [result.line() for result in results]
            case Punctuated():
                told = self.engine.punctuate(record.time, record.stream, record.where)
                self.lines[position] = [result.line() for result in told]
            case GapDeclared(stream, first, last):
                told = self.engine.declare_gap(stream, first, last)
                self.lines[position] = [result.line() for result in told]
            case Retracted(ids):
                self.lines[position] = [result.line() for each in ids for result in self.engine.retract(each)]
            case Updated():
                change = record.insert, record.delete, record.start, record.end
                told = self.engine.update(record.subscription, *change)
                self.lines[position] = [result.line() for result in told]
            case StreamClocked():
                pass
            case TimeWasReset(stream, newest):
                ended = self.engine.reset_time(stream, newest)
                self.lines[position] = [result.line() for each in ended for result in each]
            case _:
                raise AssertionError(record)

    def save(self) -> bytes:
        return self.engine.snapshot()

    def restore(self, body: bytes) -> None:
        self.engine = Engine.restore(body)

    def digest(self) -> bytes:
        return engine_digest(self.engine.snapshot())
