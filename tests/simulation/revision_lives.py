"""One simulated history of a broker with a disordered, changing stream, from one seed: events come in any order and are
withdrawn, time is promised, arcs come and go, and the broker is ended at any moment of all that.

After each end must hold: each request that was answered is in the journal once and whole, with the receipt that was
given (but for what the mode does not promise when the power goes); the state is that of an engine that has read the
journal and never ended; and each insertion, retraction and promise that the durable subscriber was told is, at its
position, what such an engine tells. Here: the broker's lives and the checker. Not here: tests (test_revision_stories).
"""

from __future__ import annotations

from typing import Any, Final

from doubles.journaled_engine import JournaledEngine
from doubles.packed_rows import packed
from simulation.lives import BEGIN, Lives

from broker.kernel import ClockDue, Kernel, Limits, Tick
from broker.kernel.records import BatchTaken, CursorAdded, CursorMoved, GapDeclared, Punctuated, Retracted, Updated
from broker.server.replicated_state import ReplicatedState
from broker.server.scheduler import Scheduler
from broker.storage import Store
from broker.storage.records import decode
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Administer,
    Credit,
    DeclareGap,
    Done,
    Failure,
    Hello,
    Message,
    Notifications,
    Numbered,
    Publish,
    Published,
    Punctuate,
    Retract,
    Subscribe,
    Subscribed,
    Update,
    decode_result,
)

IDENTITY: Final = b"0123456789abcdef"
ANN: Final = b"ann"
CURSOR: Final = "desk"
SCHEMA: Final = {"k": "string", "x": "int"}
QUERIES: Final = (
    ("afa", "FROM D BY k\nSTART a\nFINAL c\none: a -> b WHEN x < 5\ntwo: b -> c WHEN x >= 3\nWITHIN 40"),
    (
        "afa",
        "FROM D\nREGISTER n INT = 0\nSTART a\nFINAL c\none: a -> b WHEN x > 3 SET n = x\ntwo: b -> b WHEN x < n\n"
        "three: b -> c WHEN x > n\nWITHIN 30",
    ),
    ("window", "FROM D BY k WINDOW AFTER any* MATCHING [x < 5] any* [x >= 3] WITHIN 40 AGGREGATE sum(x / 7) AS s"),
    ("window", "FROM D WINDOW LAST 3 EVENTS EVERY 2 EVENTS AGGREGATE avg(x * 0.1) AS m, max(x) AS h"),
    ("window", "FROM D BY k WINDOW SESSION 15 AGGREGATE count(*) AS n, sum(x * 0.1) AS s"),
)
PREDICATES: Final = (None, None, "k = 'a'", "k = 'b'", "x < 3", "NOT x < 3", "k = 'a' AND x IN (1, 7)")
ARCS: Final = ("more: a -> b WHEN x = 7", "more: b -> c WHEN x = 2", "wrong")
NUMBERED_RECORDS: Final = (BatchTaken, GapDeclared, Punctuated, Retracted, Updated)


class RevisionStory(Lives):
    """All lives of one broker."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, record_bytes=4_000)
        random = self.random
        self.language, self.query = random.choice(QUERIES)
        self.disorder = random.choice(("speculate", "speculate", "buffer"))
        self.numbered = random.random() < 0.2
        self.lateness = random.choice((None, None, 20, 100))
        self.results = random.choice((None, None, "final"))
        self.idle = random.choice((None, 500))
        self.number = 0
        self.numbers = 1
        self.asked: dict[int, Numbered] = {}
        self.answered: dict[int, Published] = {}
        self.told: dict[int, dict[str, Any]] = {}  # by position
        self.position = 0
        self.incarnation: int | None = None

    def forget(self) -> None:
        self.answered.clear()
        self.told.clear()

    def hear_last(self) -> None:
        self.hear()

    def start(self) -> None:
        self.store = Store(self.disk, IDENTITY, self.settings, self.now)
        state = ReplicatedState()
        self.store.recover(state)
        self.check(state)
        self.open_gate(state)
        self.kernel = Kernel(
            state.engine, Limits(), receipts=state.receipts, durability=self.settings.label(), permanent=(),
            cursors=state.cursors,
        )  # fmt: skip
        self.scheduler = Scheduler(self.kernel, self.gate, lambda: self.now)
        self.position = 0
        self.say(Hello(1, VERSION, "simulation"))
        self.schema, sequence = (SCHEMA | {"n": "int"}, "n") if self.numbered else (SCHEMA, None)
        self.say(AddStream(2, "D", self.schema, None, self.disorder, self.lateness, None, self.idle, None, sequence))
        options: dict[str, Any] = {"durable": CURSOR, "retain": 10_000, "replay": 1, "incarnation": self.incarnation}
        options["results"] = self.results
        self.say(Subscribe(3, "all", self.language, self.query, True, None, None, 100_000, **options))
        self.hear()

    def converse(self) -> None:
        random = self.random
        for _ in range(random.randrange(0, 60)):
            self.now += random.choice((0, 1, 1, 1, 5, 5, 5, 5, 300))
            match random.randrange(10):
                case 0 | 1 | 2 | 3:
                    self.number += 1
                    self.asked[self.number] = self.request(self.number)
                    self.say(self.asked[self.number])
                case 4 if self.asked:
                    self.say(self.asked[random.choice(list(self.asked)[-10:])])
                    self.count("repeated")
                case 5:
                    self.scheduler.step(Tick())
                    due = self.kernel.due(self.now)
                    if due is not None and due <= self.now:
                        self.scheduler.step(ClockDue())
                        self.count("by the clock")
                case 6 if self.position and self.incarnation is not None:
                    self.say(Acknowledge(5, "all", self.position, self.incarnation))
                    self.say(Credit(0, "all", 100))
                case 7 if random.random() < 0.5:
                    old, new = random.choice((("x <", "x <="), ("x <", "x <"), ("WITHIN", "WITHIN 1")))
                    text = self.query.replace(old, new)
                    details = {"language": "", "query": text, "keep_runs": True}
                    self.say(Administer(7, "replace-subscription", "all", None, details))
                case 8 if random.random() < 0.3:
                    self.disk.capacity = random.choice((None, random.randrange(1_000, 20_000)))
                case _:
                    if self.tasks:
                        self.tasks.popleft().run()
                    self.gate.advance(self.now, True)
            self.hear()
            if self.gate.failed is not None:
                return
            self.kernel.check_invariants()
            self.store.check_invariants()

    def request(self, number: int) -> Numbered:
        random = self.random
        again: dict[str, Any] = {"publisher": "p", "number": number}
        moment = self.now - BEGIN + random.randrange(-60, 20)
        match random.randrange(9):
            case 0 if self.numbered:
                first = max(1, self.numbers - random.randrange(4))
                return DeclareGap(10 + number, "D", first, first + random.randrange(2), **again)
            case 0 | 1:
                known = range(max(1, 4 * number - 40), 4 * number)
                some = tuple(random.choice(known) for _ in range(random.randrange(1, 4)))
                return Retract(10 + number, some, **again)
            case 2:
                stream, where = random.choice((None, "D")), random.choice(PREDICATES)
                return Punctuate(10 + number, moment - 30, stream, where if stream else None, **again)
            case 3:
                start = random.choice((None, None, moment))
                end = None if start is None else random.choice((None, start + 20))
                insert = tuple(random.sample(ARCS, random.randrange(0, 2)))
                delete = tuple(random.sample(("one", "two", "more"), random.randrange(0, 2)))
                return Update(10 + number, "all", insert, delete, start, end, **again)
            case _:
                count = random.choice((1, 1, 1, 2, 3))
                times = tuple(moment + random.randrange(-40, 40) for _ in range(count))
                rows = tuple((random.choice("ab"), random.randrange(9)) for _ in range(count))
                ids = tuple(range(4 * number, 4 * number + count))
                if self.numbered:
                    first = max(1, self.numbers + random.randrange(-2, 3))
                    self.numbers = max(self.numbers, first + count)
                    times = tuple(sorted(times))
                    rows = tuple((*row, first + at) for at, row in enumerate(rows))  # type: ignore[misc]
                given = packed(self.schema, rows) if number % 3 == 0 else rows
                return Publish(10 + number, "D", times, given, ids, None, **again)

    def say(self, message: Message) -> None:
        self.scheduler.receive(ANN, message, "", 1)

    def hear(self) -> None:
        for send in self.gate.released():
            match send.message:
                case Published(correlation=correlation) as published:
                    number = correlation - 10
                    effect = published.count or not isinstance(self.asked[number], Publish | Retract)
                    known = self.answered.setdefault(number, published) if effect else published
                    assert known == published, f"message {number}: two receipts"
                    self.count(f"answered {type(self.asked[number]).__name__}")
                    self.met["refused alone"] = self.met.get("refused alone", 0) + len(published.refused)
                case Subscribed(incarnation=incarnation):
                    if incarnation != self.incarnation:
                        assert self.incarnation is None or not self.told, "the cursor is lost"
                        self.incarnation = incarnation
                case Notifications(results=results, position=int(first)):
                    for position, result in enumerate(results, first):
                        line = decode_result(result)
                        if line["kind"] == "incomplete":
                            self.count("dropped")
                            continue
                        self.position = max(self.position, position)
                        self.count(f"told {line['kind']}")
                        if line["kind"] != "punctuation":
                            self.count(f"told {line['kind']} of {self.language}")
                        assert self.told.setdefault(position, line) == line, "two results at a position"
                case Done(correlation=7):
                    self.count("replaced")
                case Failure(code=code, message=message):
                    assert code != "internal", message
                    self.count(f"refused {code}")
                case _:
                    pass

    def check(self, state: ReplicatedState) -> None:
        reference = JournaledEngine()
        taken: set[int] = set()
        lines: list[dict[str, Any]] = []
        for entry in self.store.journal.read():
            record = decode(entry.kind, entry.payload)
            if isinstance(record, CursorAdded):
                lines.clear()
            if isinstance(record, CursorAdded | CursorMoved):
                continue
            reference.replay(entry.position, entry.time, record)
            lines += reference.lines.get(entry.position, [])
            if isinstance(record, NUMBERED_RECORDS) and record.message is not None:
                assert record.message not in taken, "carried out twice"
                taken.add(record.message)
                self.check_whole(record, self.asked[record.message])
        recovered = JournaledEngine()
        recovered.engine = state.engine
        assert recovered.digest() == reference.digest(), "the state is that of the journal"
        assert self.answered.keys() <= taken, "answered, and lost"
        for position, line in self.told.items():
            assert line == lines[position - 1], "told, and not what an engine tells that never ended"
        self.count("checked")
        if self.store.statistics()["checkpoint"]:
            self.count("from a checkpoint")

    def check_whole(self, record: object, asked: Numbered) -> None:
        match record, asked:
            case Updated(), Update():
                assert tuple(record.insert) == asked.insert
                assert tuple(record.delete) == asked.delete
                assert (record.start, record.end) == (asked.start, asked.end)
            case Retracted(), Retract():
                assert len(record.ids) + len(record.refused) == len(asked.ids)
            case GapDeclared(), DeclareGap():
                assert (record.stream, record.first, record.last) == (asked.stream, asked.first, asked.last)
            case Punctuated(), Punctuate():
                assert (record.time, record.stream, record.where) == (asked.time, asked.stream, asked.where)
            case BatchTaken(), Publish():
                assert len(record.rows) + len(record.refused) == len(asked.rows)
            case _:
                raise AssertionError("the record of another request")
