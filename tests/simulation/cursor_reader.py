"""A durable subscriber of a simulated broker: it acknowledges, refuses, loses, reads again, and remembers what it
was told; and what must hold of that, against a model of the journal's records.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from simulation.cursor_model import CursorModel, CursorModels

from broker.kernel import Cursors
from broker.wire import (
    VERSION,
    Acknowledge,
    Credit,
    DeadLetters,
    Done,
    Failure,
    Forget,
    Hello,
    ListDeadLetters,
    Message,
    Notifications,
    Refuse,
    Settle,
    Subscribe,
    Subscribed,
    decode_result,
)

CURSOR = "cursor"
LETTERS = 3
_REFUSED = ("busy", "unknown-stream", "session", "unknown-subscription", "definition", "limit", "protocol")

Place = tuple[int, int]
"""Incarnation and position."""


class CursorReader:
    """`say` sends a message over the connection `key`; `count` is told what happens.

    What it knows for sure, by incarnation: `read`, ids by place; `acknowledged` and `refused`, as they were answered.
    What is to be looked at in the journal: `left_out`, places that were passed over; `skipped`, from where on it was
    told that nothing is left to do before; `gaps`, from a place to a place so many. `asked_for`: up to where it has
    acknowledged, answered or not.
    """

    def __init__(self, random: Random, count: Callable[[str], None]) -> None:
        self.random = random
        self.count = count
        self.number = 0
        self.key = b""
        self.retain = random.choice((0, 0, 2, 8))
        self.position = 0
        self.incarnation: int | None = None
        self.attached = False
        self.claimed = 0
        self.within: int | None = None
        self.seen: list[int] = []
        self.asked: dict[int, Message] = {}
        self.forget_all()

    def forget_all(self) -> None:
        """What was told is not promised any more."""
        self.read: dict[Place, str] = {}
        self.acknowledged: dict[int, int] = {}
        self.refused: set[Place] = set()
        self.left_out: set[Place] = set()
        self.skipped: set[Place] = set()
        self.asked_for: dict[int, int] = {}
        self.gaps: list[tuple[int, int, int, int, int]] = []

    # ---- what it says ----

    def attach(self, query: str) -> list[Message]:
        """Over another connection, with little patience, from somewhere."""
        random = self.random
        self.number += 1
        self.key = b"reader %d" % self.number
        self.attached = False
        self.asked.clear()
        self.seen.clear()
        self.claimed = 0
        options: dict[str, Any] = {}
        if self.incarnation is not None:
            match random.randrange(4):
                case 0:
                    self.claimed = max(0, self.position - random.randrange(3))
                    options = {"after": self.claimed, "incarnation": self.incarnation}
                case 1:
                    self.claimed = max(0, self.position - random.randrange(6))
                    options = {"replay": self.claimed + 1, "incarnation": self.incarnation}
                    self.count("replayed")
        self.within = random.choice((None, 1, 1_000))
        options |= {"retain": self.retain, "within": self.within, "deliveries_max": random.choice((None, 1, 2))}
        credits = random.choice((1, 3, 1_000))
        base = Subscribe(3, "all", "cayuga", query, True, None, None, credits, durable=CURSOR, **options)
        return [Hello(1, VERSION, "simulation"), base]

    def next_request(self) -> Message | None:
        """Something that it may want at this moment."""
        if not self.attached:
            return None
        self.number += 1
        correlation, random = 10 + self.number, self.random
        request: Message | None = None
        match random.randrange(8):
            case 0 | 1 if self.position:
                assert self.incarnation is not None
                before = self.asked_for.get(self.incarnation, 0)
                self.asked_for[self.incarnation] = max(before, self.position)
                request = Acknowledge(correlation, "all", self.position, self.incarnation)
            case 2 | 3 if self.seen:
                request = Refuse(correlation, "all", random.choice(self.seen[-4:]), "refused", self.incarnation)
            case 4:
                request = ListDeadLetters(correlation, CURSOR, 0)
            case 5 if random.random() < 0.3:
                request = Forget(correlation, CURSOR)
            case _:
                return Credit(0, "all", random.randrange(1, 5))
        if request is not None:
            self.asked[correlation] = request
        return request

    # ---- what it hears ----

    def hear(self, message: Message) -> Message | None:
        """What it says at once in return."""
        match message:
            case Subscribed(position=int(position), incarnation=int(incarnation)):
                if incarnation != self.incarnation:
                    self.claimed = 0
                self.incarnation, self.position, self.attached = incarnation, position - 1, True
                self._nothing_before(position)
            case Notifications(results=results, position=int(first), redelivered=redelivered):
                for position, result in enumerate(results, first):
                    self._told(position, decode_result(result), redelivered)
            case Done(correlation):
                self._done(self.asked.pop(correlation, None))
            case DeadLetters(entries=entries) if entries:
                self.count("dead letters listed")
                some = tuple(each.position for each in entries if self.random.random() < 0.5)
                self.number += 1
                return Settle(10 + self.number, CURSOR, some, self.random.random() < 0.5)
            case Failure(code=code):
                assert code in _REFUSED, message
                self.count(f"reader refused {code}")
            case _:
                pass
        return None

    def _told(self, position: int, line: dict[str, object], redelivered: bool) -> None:
        incarnation = self.incarnation
        assert incarnation is not None
        place = incarnation, position
        if position <= self.position:
            assert redelivered, "comes again, and does not say so"
            assert self.within is not None, "comes again, and nobody has asked for it"
            if line["kind"] == "match":  # else it is the last of those that are missing
                self._nothing_before(position)
            self.count("came again")
        elif line["kind"] == "incomplete":
            missed = line["missed"]
            assert type(missed) is int
            # It may have begun further back, where all of that is missing, too.
            least = 0 if self.within is not None else self.position
            self.gaps.append((incarnation, self.position, position, missed, position - least))
        else:
            self.left_out.update((incarnation, each) for each in range(self.position + 1, position))
        self.position = position
        if line["kind"] == "incomplete":
            self.count("given up" if line["limit"] == "deliveries_max" else "dropped")
            return
        known = self.read.setdefault(place, str(line["id"]))
        assert known == line["id"], "two ids at a position"
        self.seen.append(position)
        self.count("read")

    def _nothing_before(self, position: int) -> None:
        assert self.incarnation is not None
        if position - 1 > self.claimed:
            self.skipped.add((self.incarnation, position - 1))

    def _done(self, request: Message | None) -> None:
        match request:
            case Acknowledge(position=position, incarnation=int(incarnation)):
                self.acknowledged[incarnation] = max(position, self.acknowledged.get(incarnation, 0))
                self.count("acknowledged")
            case Refuse(position=position, incarnation=int(incarnation)):
                self.refused.add((incarnation, position))
                self.count("refused")
            case Forget():
                self.attached = False
                self.count("forgotten")
            case _:
                pass

    # ---- the checker ----

    def check(self, models: CursorModels, cursors: Cursors) -> None:
        """Everything that it was told is so in the journal, and what is kept is what the journal says."""
        cursors.check_invariants()
        for (incarnation, position), identity in self.read.items():
            assert models.all[incarnation].ids[position - 1] == identity, "delivered under another id or position"
        for incarnation, position in self.acknowledged.items():
            assert models.all[incarnation].reached >= position, "acknowledged, and lost"
        for incarnation, position in self.refused:
            assert position in models.all[incarnation].set_aside, "refused, and not set aside"
        for incarnation, position in self.left_out:
            done = position <= self.asked_for.get(incarnation, 0)  # an acknowledgement has crossed a redelivery
            assert done or position in models.all[incarnation].set_aside, "neither done with nor told"
        for incarnation, position in self.skipped:
            assert models.all[incarnation].reached >= position, "what was not done with is left out"
        for incarnation, before, last, missed, most in self.gaps:
            acknowledged = self.asked_for.get(incarnation, 0)  # as above
            rest = set(range(max(before, acknowledged) + 1, last + 1)) - models.all[incarnation].set_aside
            assert len(rest) <= missed <= most, "a gap that is not what is missing"
        living = models.living
        cursor = cursors.find(CURSOR)
        assert (cursor is None) == (living is None), "the cursor is lost, or was not forgotten"
        if cursor is not None and living is not None:
            self._check_kept(living, cursors)

    def _check_kept(self, model: CursorModel, cursors: Cursors) -> None:
        cursor = cursors.find(CURSOR)
        assert cursor is not None
        assert cursor.last == len(model.ids)
        assert cursor.first == model.first, "dropped without need, or kept too long"
        assert [decode_result(each)["id"] for each in cursor.results] == model.ids[cursor.first - 1 :]
        assert cursor.acknowledged == model.acknowledged
        assert set(cursor.aside) == {each for each in model.done if each > model.acknowledged}
        kept = [(each.position, decode_result(each.result)["id"], each.reason) for each in cursor.letters]
        assert kept == [(at, model.ids[at - 1], reason) for at, reason in model.letters.items()], "dead letters"
