"""Two users of different rights in a simulated broker: a host who may do everything, and a guest who may not read
the stream H; and that the guest never comes to a value of it, whatever the host feeds into what the guest reads, and
whoever is there at that moment.

Values of H are known by their size, and its events by their ids. O is made of S, and now and then of H as well.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from broker.kernel import Access, User
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Credit,
    DeadLetters,
    Failure,
    Forget,
    Goodbye,
    Hello,
    ListDeadLetters,
    Message,
    Notifications,
    Refuse,
    Subscribe,
    Subscribed,
    Unsubscribe,
    decode_result,
)

SECRET: Final = 100
"""Values of H begin here."""

KEY: Final = "g" * 40
HOST: Final = b"host"
NAME: Final = "guest.out"
CURSOR: Final = "mine"
SCHEMA: Final = {"k": "string", "x": "int"}
GUEST_QUERIES: Final = ("SELECT * FROM O", "SELECT * FROM O NEXT{} S", "SELECT * FROM S NEXT{} O")
FEEDING: Final = {"feed.s": "SELECT * FROM S PUBLISH O", "feed.h": "SELECT * FROM H PUBLISH O"}

_EVERY: Final = ("*",)
ACCESS: Final = Access(
    {KEY: User("guest", read=("S", "O"), subscribe=("guest.*",))},
    User("anybody", _EVERY, _EVERY, _EVERY, _EVERY, admin=True),
)


class TwoUsers:
    """`key`: the guest's connection. What either says next, and what is made of the answers."""

    def __init__(self, random: Random, count: Callable[[str], None]) -> None:
        self.random = random
        self.count = count
        self.query = random.choice(GUEST_QUERIES)
        self.durable = random.choice((CURSOR, CURSOR, None))
        self.number = 0
        self.key = b""
        self.position = 0
        self.attached = False
        self.held: set[str] = set()

    def begin(self) -> list[tuple[bytes, Message]]:
        """Of a life of the broker: the host is there, O is made of S, and the guest comes as a rule."""
        self.held.clear()
        host: list[Message] = [Hello(1, VERSION, "simulation")]
        host += [AddStream(2, name, SCHEMA, None, "arrival", None, None) for name in "SH"]
        host.append(self._subscribe("feed.s", FEEDING["feed.s"]))
        return [*((HOST, message) for message in host), *(self.come() if self.random.random() < 0.7 else [])]

    def come(self) -> list[tuple[bytes, Message]]:
        """The guest, over another connection."""
        self.number += 1
        self.key = b"guest %d" % self.number
        self.attached = False
        query = self.random.choice((self.query, self.query, None))
        asked = Subscribe(3, NAME, "cayuga", query, True, None, None, 1_000, durable=self.durable)
        return [(self.key, Hello(1, VERSION, "simulation")), (self.key, asked)]

    def next(self) -> list[tuple[bytes, Message]]:
        """What either wants at this moment."""
        random = self.random
        match random.randrange(8):
            case 0 | 1 | 2:
                name = random.choice(("feed.h", "feed.h", NAME))
                if name in self.held:
                    return [(HOST, Unsubscribe(4, name))]
                return [(HOST, self._subscribe(name, FEEDING.get(name, self.query)))]
            case 3 | 4 if not self.attached:
                return self.come()
            case 5 if self.attached and random.random() < 0.5:
                return [(self.key, Goodbye(5))]
            case 6 if self.attached and self.durable and random.random() < 0.2:
                return [(self.key, Forget(6, CURSOR))]
            case 7 if self.attached and self.durable and self.position:
                made = Refuse if random.random() < 0.5 else Acknowledge
                reason = ("no",) if made is Refuse else ()
                return [(self.key, made(7, NAME, self.position, *reason))]
        asked: Message = ListDeadLetters(8, CURSOR, 0) if self.durable else Credit(0, NAME, 9)
        return [(self.key, asked)] if self.number else []

    def _subscribe(self, name: str, query: str) -> Subscribe:
        return Subscribe(3, name, "cayuga", query, True, None, None, 1_000)

    def hear_host(self, message: Message) -> None:
        """What the host has: subscriptions, and now and then a refusal."""
        match message:
            case Subscribed(name=name):
                self.held.add(name)
                self.count(f"host {name}")
            case Failure(code="unknown-subscription" | "definition"):
                pass
            case Failure(code=code):
                assert code in ("busy", "permission", "session", "unknown-stream"), message
                self.count(f"host refused {code}")
            case _ if message.correlation == 4:
                self.held -= {"feed.h", NAME}
            case _:
                pass

    def hear(self, message: Message, secret: set[int]) -> None:
        """What the guest has; `secret`: the ids of all events of H."""
        match message:
            case Subscribed(position=position):
                self.attached = True
                self.position = 0 if position is None else position - 1
                self.count("guest attached")
            case Notifications(results=results, position=first):
                for line in map(decode_result, results):
                    _check(line, secret)
                    self.count("guest read")
                if first is not None:
                    self.position = first + len(results) - 1
            case DeadLetters(entries=entries):
                for entry in entries:
                    _check(decode_result(entry.result), secret)
                    self.count("guest dead letters")
            case Failure(code=code, message=text):
                assert "H'" not in text, "what flows in is not the guest's to know"
                self.count(f"guest refused {code}")
            case _ if message.correlation in (5, 6):
                self.attached = False
            case _:
                pass


def _check(line: dict[str, Any], secret: set[int]) -> None:
    assert secret.isdisjoint(line.get("lineage", ())), "a result of what the guest may not read"
    values = line.get("data", {}).values()
    assert not any(type(value) is int and value >= SECRET for value in values), "a value that the guest may not read"
