"""A client may attach with a text that differs from the known one in blanks and in the case of keywords only."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.events import DefinitionError
from broker.kernel import Kernel, Received
from broker.wire import VERSION, AddStream, Failure, Hello, Message, Subscribe, Subscribed

QUERY = "SELECT name FROM FILTER{price > 5}(Stock)"


class Asking:
    """A kernel with a real engine and two clients."""

    def __init__(self) -> None:
        self.kernel = Kernel(Engine())
        for key in (b"a", b"b"):
            self.ask(key, Hello(1, VERSION, "test"))
        self.ask(b"a", AddStream(2, "Stock", {"name": "string", "price": "float"}, None, "arrival", None, None))

    def ask(self, key: bytes, message: Message) -> Message:
        return next(send.message for send in self.kernel.step(Received(key, message), 0).sends if send.session == key)

    def subscribe(self, key: bytes, query: str, language: str = "cayuga") -> Message:
        return self.ask(key, Subscribe(5, "q", language, query, None, None, None, 10))


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("cayuga", "select name\n  FROM FILTER{ price>5 }(Stock)"),
        ("cayuga", QUERY + "\n"),
        ("cel", QUERY),
    ],
)
def test_the_same_query_written_differently_attaches(language: str, query: str) -> None:
    asking = Asking()
    assert asking.subscribe(b"a", QUERY) == Subscribed(5, "q", False)
    assert asking.subscribe(b"b", query, language) == Subscribed(5, "q", True)


@pytest.mark.parametrize("query", [QUERY.replace("5", "6"), "SELECT name FROM", QUERY.replace("price", "prise")])
def test_another_query_is_refused(query: str) -> None:
    asking = Asking()
    asking.subscribe(b"a", QUERY)
    answer = asking.subscribe(b"b", query)
    assert isinstance(answer, Failure)
    assert (answer.code, answer.message) == (DefinitionError.code, "subscription 'q' exists with another text")
