"""One simulated history of a broker from one seed: scheduler, kernel, gate and storage over a disk that may lose power
or be full, a client that repeats what it has no answer to, and a checker. Only the checker's assertions are here.

After each end must hold: every batch that was answered is in the journal once, with the receipt that was given (but
for what the mode does not promise when the power goes); the state is that of an engine that has read the journal and
never ended; and each notification that came is a result of such an engine, with its id. A durable subscriber, whose
connection is lost now and then, has each of them at the position that it has in the order of such an engine, whatever
was acknowledged before; but for those that are told as dropped. It refuses some and has others delivered again, reads
once more from before, and gives up what kills it: nothing that is not done with is left out, and what was set aside is
there until it is settled. A slow reader without a cursor, whose queue is short, is told in each life what the quick one
is told, in order, or how many of that it misses, or is ended. Batches are matched in pieces of any size, others wait in
line meanwhile, and an end may come in the middle of a batch. A guest who may not read all streams comes to no value of
those (guest). An operator moves the cursor, replaces texts and changes streams (operator). Now and then a time is far
ahead, and is refused, or a stream's time is reset.
"""

from __future__ import annotations

from typing import Final

from doubles.journaled_engine import JournaledEngine
from doubles.packed_rows import packed
from simulation.cursor_model import CursorModels, CursorRecord
from simulation.cursor_reader import LETTERS, CursorReader
from simulation.guest import ACCESS, CURSOR, HOST, KEY, SCHEMA, SECRET, TwoUsers
from simulation.lives import Lives
from simulation.operator import EXTRA, Operator
from simulation.window_subscriptions import Told, told, window_subscriptions

from broker.kernel import Admission, Kernel, Limits, Tick, flows, states
from broker.kernel.records import BatchTaken
from broker.server.replicated_state import ReplicatedState
from broker.server.scheduler import Scheduler
from broker.server.slice_sizer import PIECE_NANOSECONDS
from broker.storage import Store
from broker.storage.records import decode
from broker.wire import (
    VERSION,
    WHEN_SLOW,
    AddStream,
    Credit,
    Ended,
    Failure,
    Hello,
    Message,
    Notifications,
    Publish,
    Published,
    ResetTime,
    Subscribe,
    Subscribed,
    decode_result,
)

IDENTITY: Final = b"0123456789abcdef"
ANN: Final = b"ann"
KEPT: Final = 12
WAITING: Final = 3
QUERIES: Final = ("SELECT * FROM S", "SELECT * FROM S NEXT{$1.k = $2.k} S", "SELECT * FROM S FOLD{$1.k = $2.k} S")


class Story(Lives):
    """All lives of one broker."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, record_bytes=2_000)
        random = self.random
        self.query = random.choice(QUERIES)
        self.watch = 0
        self.number = 0
        self.asked: dict[int, Publish] = {}
        self.answered: dict[int, Published] = {}
        self.told: list[Told] = []  # notifications
        self.slow = b""  # the slow reader's connection
        self.reached = 0  # how many of those that the quick one was told it knows of
        self.quick: list[str] | None = None  # their ids, in this life
        self.reader = CursorReader(random, self.count)
        self.users = TwoUsers(random, self.count)
        self.operator = Operator(random, self.count)
        self.secret: set[int] = set()  # the ids of what the guest may not read
        self.windows = window_subscriptions(random)

    def forget(self) -> None:
        self.answered.clear()
        self.told.clear()
        self.reader.forget_all()

    def hear_last(self) -> None:
        self.hear(answering=False)

    def start(self) -> None:
        self.store = Store(self.disk, IDENTITY, self.settings, self.now)
        history = ReplicatedState()
        self.store.recover(history)
        self.check(self.store, history)
        self.open_gate(history)
        limits = Limits(durable_notifications=KEPT, durable_dead_letters=LETTERS, queue_notifications=WAITING)
        admission = Admission(ACCESS, flows(history.engine), states(history.engine), history.sources)
        self.kernel = Kernel(
            history.engine, limits, admission, receipts=history.receipts, durability=self.settings.label(),
            permanent=(), cursors=history.cursors,
        )  # fmt: skip
        self.engine = history.engine
        self.scheduler = Scheduler(self.kernel, self.gate, lambda: self.now, self.measure)
        self.say(Hello(1, VERSION, "simulation"))
        self.say(AddStream(2, "S", SCHEMA, None, "arrival", None, None))
        self.say(Subscribe(3, "all", "cayuga", self.text(), True, None, None, 1_000_000))
        self.read_slowly()
        self.read_on()
        self.say_all(self.users.begin() + [(ANN, each) for each in self.windows])

    def text(self) -> str:
        """The present text of the subscription that all share; an operator may replace it."""
        known = self.engine.subscriptions.get("all")
        return self.query if known is None else known.query

    def read_slowly(self) -> None:
        """The slow reader attaches, with a policy."""
        self.number += 1
        self.slow, self.reached, self.quick = b"slow %d" % self.number, 0, None
        self.say(Hello(1, VERSION, "simulation"), self.slow)
        policy = self.random.choice(WHEN_SLOW)
        asked = Subscribe(3, "all", "cayuga", self.text(), True, None, None, 1, when_slow=policy)
        self.say(asked, self.slow)

    def read_on(self) -> None:
        """The durable subscriber attaches, with little patience."""
        for message in self.reader.attach(self.text()):
            self.say(message, self.reader.key)

    def say_all(self, messages: list[tuple[bytes, Message]]) -> None:
        for session, message in messages:
            self.say(message, session)
            self.hear()

    def converse(self) -> None:
        random = self.random
        for _ in range(random.randrange(0, 50)):
            self.now += random.choice((-50, 0, 1, 100, 1_000))
            if random.random() < 0.3:
                self.say_all(self.users.next())
            if random.random() < 0.08:
                self.say_all(self.operator.next(QUERIES))
            match random.randrange(14):
                case 0 | 1 | 2:
                    self.number += 1
                    self.asked[self.number] = self.batch(self.number)
                    self.say(self.asked[self.number])
                case 3 if self.asked:
                    again = random.choice(list(self.asked)[-20:])
                    self.say(self.asked[again])
                    self.count("repeated")
                case 4:
                    self.scheduler.step(Tick())
                    if random.random() < 0.1:
                        self.say(ResetTime(9, random.choice("SH")), HOST)
                        self.count("reset")
                case 5 if random.random() < 0.2:
                    self.disk.capacity = random.randrange(1_000, 9_000)
                case 6 if random.random() < 0.2:
                    self.disk.capacity = None
                case 7 | 8:
                    request = self.reader.next_request()
                    if request is not None:
                        self.say(request, self.reader.key)
                    self.say(Credit(0, "all", random.randrange(1, 5)), self.slow)
                case 9 if random.random() < 0.3:
                    self.scheduler.leave(self.reader.key)
                    self.scheduler.leave(self.users.key)
                    self.users.attached = False
                    self.hear()
                    self.say_all(self.operator.move(self.reader.position))
                    self.read_on()
                    self.count("attached again")
                case 10 | 11 | 12:
                    self.go_on()
                case _:
                    if self.tasks:
                        self.tasks.popleft().run()
                    self.gate.advance(self.now, self.kernel.work is None)
            self.hear()
            if self.gate.failed is not None:
                return
            self.kernel.check_invariants()
            self.scheduler.check_invariants()
            self.store.check_invariants()
        self.scheduler.leave(b"nobody")

    def go_on(self) -> None:
        """With the batch in work, or with what has waited for its end."""
        if self.scheduler.waiting:
            self.count("pieces" if self.kernel.work is not None else "waited")
            self.scheduler.turn()

    def measure(self) -> int:
        """A stopwatch by which a piece of a batch takes any time, so that the next piece has any size."""
        self.watch += self.random.choice((0, PIECE_NANOSECONDS // 2, 3 * PIECE_NANOSECONDS, 100 * PIECE_NANOSECONDS))
        return self.watch

    def batch(self, number: int) -> Publish:
        random = self.random
        count = random.randrange(1, random.choice((4, 9)))
        times = tuple(10 * number + random.randrange(-25, 20) for _ in range(count))
        if random.random() < 0.05:
            times = (*times[:-1], times[-1] + 2**50)
        stream = random.choice("SSSSSH" + EXTRA)
        least = SECRET if stream == "H" else 0
        rows = tuple((random.choice("ab"), least + random.randrange(9)) for _ in range(count))
        given = packed(SCHEMA, rows) if number % 3 == 0 else rows
        return Publish(10 + number, stream, times, given, None, None, "p", number)

    def say(self, message: Message, session: bytes = ANN) -> None:
        identity = KEY if session.startswith(b"guest") else ""
        self.scheduler.receive(session, message, identity, 1)

    def hear(self, answering: bool = True) -> None:
        for send in self.gate.released():
            assert not (isinstance(send.message, Failure) and send.message.code == "internal"), send.message
            if send.session == HOST:
                if not self.operator.hear(send.message):
                    self.users.hear_host(send.message)
                continue
            if send.session == self.users.key:
                self.users.hear(send.message, self.secret_ids())
                continue
            if send.session != ANN:
                if send.session == self.slow and self.quick is not None:
                    self.hear_slow(send.message, self.quick)
                more = self.reader.hear(send.message) if send.session == self.reader.key else None
                if more is not None and answering:
                    self.say(more, send.session)
                continue
            match send.message:
                case Published(correlation=correlation) as published if correlation > 10:
                    number = correlation - 10
                    known = self.answered.setdefault(number, published) if published.count else published
                    assert known == published, f"message {number}: two receipts"
                    self.count("answered")
                    if any(each.code == "early" for each in published.refused):
                        self.count("early")
                case Subscribed(correlation=3):
                    self.quick = []
                case Notifications(results=results):
                    assert self.quick is not None
                    for line in map(decode_result, results):
                        self.told.append(told(line))
                        if line["subscription"] == "all":
                            self.quick.append(line["id"])
                        self.count("notified" if line["subscription"] == "all" else "notified of windows")
                case Failure(code=code):
                    assert code in ("busy", "unknown-stream", "session"), send.message
                    self.count(f"refused {code}")
                case _:
                    pass

    def secret_ids(self) -> set[int]:
        """The ids of all events of H in this life and before, also of the batch in work."""
        work = self.kernel.work
        if work is not None and work.record.stream == "H":
            self.secret.update(work.record.ids)
        return self.secret

    def hear_slow(self, message: Message, quick: list[str]) -> None:
        match message:
            case Notifications(results=results):
                for line in map(decode_result, results):
                    if line["kind"] == "incomplete":
                        self.reached += line["missed"]
                        self.count("missed")
                    else:
                        assert line["id"] == quick[self.reached], "left out in silence, or out of order"
                        self.reached += 1
                assert self.reached <= len(quick), "more is missing than there was"
            case Ended():
                assert self.reached == len(quick), "ended, and not told of all until then"
                self.count("ended")
            case _:
                pass

    # ---- the checker ----

    def check(self, store: Store, history: ReplicatedState) -> None:
        reference = JournaledEngine()
        taken: dict[int, int] = {}
        models = CursorModels(CURSOR)
        self.secret = set()  # a batch that an end has lost gave its ids back
        for entry in store.journal.read():
            record = decode(entry.kind, entry.payload)
            if isinstance(record, CursorRecord):
                models.take(record)
                continue
            reference.replay(entry.position, entry.time, record)
            if isinstance(record, BatchTaken):
                assert record.message is not None
                assert record.message not in taken, "taken twice"
                taken[record.message] = record.ids[0]
                models.find([line for line in reference.lines[entry.position] if line["subscription"] == "all"])
                if record.stream == "H":
                    self.secret.update(record.ids)
        recovered = JournaledEngine()
        recovered.engine = history.engine
        assert recovered.digest() == reference.digest(), "the state is that of the journal"
        for number, published in self.answered.items():
            assert taken.get(number) == published.first_id, f"message {number} was answered, and is lost"
        found = {told(line) for lines in reference.lines.values() for line in lines}
        assert found.issuperset(self.told), "delivered, and not a result of the journal"
        self.reader.check(models, history.cursors)
        self.count("checked")
        if store.statistics()["checkpoint"]:
            self.count("from a checkpoint")
