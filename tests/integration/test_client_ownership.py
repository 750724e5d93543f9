"""A client belongs to the thread, or the loop, and the process that opened it: every call from elsewhere is refused by
name, before it changes anything."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from doubles.broker_process import broker_process, python_process

from client import Client, ForetellError, Publisher, Subscription, WrongThread, aio


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with broker_process() as broker:
        yield broker.address


LOOKS = {"of", "line", "expanded"}
"""What only looks at a notification, in any thread."""


def calls(of: object) -> list[tuple[str, Callable[[], Any]]]:
    """Every public method, called with something for each argument that has no default."""
    made: list[tuple[str, Callable[[], Any]]] = []
    for name, _ in inspect.getmembers(type(of), inspect.isfunction):
        if name.startswith("_") or name in LOOKS:
            continue
        method = getattr(of, name)
        wanted = [
            each.name for each in inspect.signature(method).parameters.values()
            if each.default is each.empty and each.kind is not each.VAR_POSITIONAL
        ]  # fmt: skip
        made.append((name, partial(method, *["x" for _ in wanted])))
    assert made
    return made


def state(client: Any) -> object:
    session = client._connection.session
    inboxes = {name: (list(inbox.notifications), inbox.taken) for name, inbox in session.inboxes.items()}
    return session._correlation, inboxes, dict(session.declared), dict(session.later.due), dict(session.dropped)


def in_a_thread(use: Callable[[], None]) -> None:
    thread = threading.Thread(target=use, name="worker")
    thread.start()
    thread.join()


def refusals(made: list[tuple[str, Callable[[], Any]]]) -> dict[str, BaseException | None]:
    """What each raises in another thread."""
    found: dict[str, BaseException | None] = {}

    def use() -> None:
        for name, call in made:
            found[name] = None
            try:
                result = call()
                if inspect.isasyncgen(result):
                    result = anext(result)
                if inspect.isawaitable(result):
                    asyncio.run(awaited(result))
            except BaseException as error:  # what a test must see, whatever it is
                found[name] = error

    in_a_thread(use)
    return found


async def awaited(result: Any) -> None:
    await result


def test_another_thread_changes_nothing(address: str) -> None:
    with Client(address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("one", query="SELECT * FROM S", durable="mine")
        client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
        notification = subscription.next(60)
        assert notification is not None
        with client.publisher("S", message_events=10) as publisher:
            publisher.publish_batch([4], [(4,)])
            before = state(client)
            made = [call for each in (client, subscription, publisher, notification) for call in calls(each)]
            assert len(made) > 45
            found = refusals(made)
            assert {name for name, error in found.items() if type(error) is not WrongThread} == set(), found
            assert {str(error) for error in found.values()} == {
                "this client belongs to the thread 'MainThread', found 'worker': open one there"
            }
            assert state(client) == before
        assert [subscription.next(60).start for _ in range(3)] == [2, 3, 4]  # type: ignore[union-attr]
        subscription.close()
        client.forget("mine")


def test_what_another_thread_leaves_stays_open(address: str) -> None:
    """The blocks of a client, a subscription and a publisher, left in another thread: with and without an exception."""
    with Client(address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("left", query="SELECT * FROM S")
        publisher = client.publisher("S", message_events=10)
        publisher.publish_batch([5], [(5,)])
        before = state(client)
        found: list[object] = []

        def leave() -> None:
            for each in (subscription, publisher, client):
                try:
                    each.__exit__(None)
                except ForetellError as error:
                    found.append(type(error))
                each.__exit__(ValueError)  # the exception that ended the block goes on

        in_a_thread(leave)
        assert found == [WrongThread] * 3
        assert state(client) == before
        publisher.flush()
        notification = subscription.next(60)
        assert notification is not None
        assert notification.start == 5


def test_close_in_another_thread_is_refused_while_one_publishes(address: str) -> None:
    with Client(address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        refused: list[type] = []
        done = threading.Event()

        def close() -> None:
            while not done.is_set():
                try:
                    client.close()
                except ForetellError as error:
                    refused.append(type(error))

        thread = threading.Thread(target=close)
        thread.start()
        for time in range(10, 60):
            client.publish("S", {"x": 1}, time=time)
        done.set()
        thread.join()
        assert set(refused) == {WrongThread}


def test_what_a_thread_that_has_ended_left_open_may_be_closed(address: str) -> None:
    left: list[Client] = []
    in_a_thread(lambda: left.append(Client(address, timeout=60)))
    with pytest.raises(WrongThread):
        left[0].ping()
    left[0].close()
    left[0].close()


def test_another_loop_changes_nothing(address: str) -> None:
    async def story() -> None:
        async with aio.Client(address, timeout=60) as client:
            await client.add_stream("S", {"x": "int"})
            async with await client.subscribe("many", query="SELECT * FROM S", durable="theirs") as subscription:
                await client.publish_batch("S", [100, 101], [(1,), (2,)])
                notification = await subscription.next(60)
                assert notification is not None
                before = state(client)
                found = refusals([call for each in (client, subscription, notification) for call in calls(each)])
                assert {name for name, error in found.items() if type(error) is not WrongThread} == set(), found
                assert {str(error) for error in found.values()} == {
                    "this client belongs to another event loop, which opened it: open one in this loop"
                }
                assert state(client) == before
                assert (await subscription.next(60)).start == 101  # type: ignore[union-attr]
            await client.forget("theirs")

    asyncio.run(story())


_FORK = """
    import os, sys
    sys.path[:0] = sys.argv[2].split(os.pathsep)
    from test_client_ownership import calls, refused_here
    from client import Client

    with Client(sys.argv[1], timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("forked", query="SELECT * FROM S", durable="ours")
        client.publish_batch("S", [200, 201, 202], [(1,), (2,), (3,)])
        notification = subscription.next(60)
        client.ping()  # the others have come
        publisher = client.publisher("S")
        child = os.fork()
        if child == 0:
            for each in (client, subscription, publisher, notification):
                print(*refused_here(calls(each)), sep="\\n", flush=True)
            for each in (subscription, publisher, client):
                each.__exit__(SystemExit)
            os._exit(0)
        os.waitpid(child, 0)
        starts = [subscription.next(60).start for _ in range(2)]
        print("parent", *starts, client.publish("S", {"x": 1}, time=203).count)
        subscription.close()
        client.forget("ours")
"""


def refused_here(made: list[tuple[str, Callable[[], Any]]]) -> list[str]:
    """What does not raise ConnectionLost here, or raises it without naming the rule."""
    found = []
    for name, call in made:
        try:
            result = call()
            if inspect.iscoroutine(result):
                with suppress(StopIteration):
                    result.send(None)
            elif inspect.isasyncgen(result):
                anext(result).send(None)
            found.append(f"{name} is done")
        except Exception as error:  # what a test must see, whatever it is
            rule = type(error).__name__ == "ConnectionLost" and "belongs to process" in str(error)
            found += [] if rule else [f"{name}: {error!r}"]
    return found


_FORK_OF_A_LOOP = """
    import asyncio, os, sys
    sys.path[:0] = sys.argv[2].split(os.pathsep)
    from test_client_ownership import calls, refused_here
    from client import aio

    async def main():
        async with aio.Client(sys.argv[1], timeout=60) as client:
            await client.add_stream("S", {"x": "int"})
            subscription = await client.subscribe("forked", query="SELECT * FROM S", durable="ours")
            await client.publish_batch("S", [300, 301, 302], [(1,), (2,), (3,)])
            notification = await subscription.next(60)
            child = os.fork()
            if child == 0:
                for each in (client, subscription, notification):
                    print(*refused_here(calls(each)), sep="\\n", flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print("parent", (await subscription.next(60)).start, (await subscription.next(60)).start, 1)
            await subscription.close()
            await client.forget("ours")

    asyncio.run(main())
"""


@pytest.mark.parametrize(("program", "first"), [(_FORK, 200), (_FORK_OF_A_LOOP, 300)], ids=["blocking", "asyncio"])
def test_a_forked_process_takes_nothing_of_its_parent(address: str, program: str, first: int) -> None:
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    with python_process(program, address, paths) as process:
        told, errors = process.communicate(timeout=60)
    lines = [line for line in told.splitlines() if line]
    assert lines == ["close is done", f"parent {first + 1} {first + 2} 1"], told + errors


def test_calls_are_found_by_themselves() -> None:
    assert {"subscribe", "publish_columns", "explain", "why_not", "release", "close"} <= {
        name for name, _ in inspect.getmembers(Client, inspect.isfunction)
    }
    assert {"flush", "publish_batch"} <= set(dir(Publisher))
    assert {"next", "poll", "close"} <= set(dir(Subscription))
