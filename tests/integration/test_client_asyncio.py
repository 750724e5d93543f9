"""The asyncio client against a broker process: the same calls, many at once, and the way back after a loss."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable

import pytest
from doubles.broker_process import broker_process
from doubles.cut_line import CutLine

from client import (
    Client,
    ConnectionLost,
    DefinitionError,
    Durable,
    EventError,
    FlowEvent,
    ForetellError,
    Happening,
    LateEvent,
    ProtocolError,
    QueryError,
    Reconnect,
    RequestTimeout,
    Subscription,
    SubscriptionDefinition,
    UnknownStream,
    UnknownSubscription,
    aio,
    contexts,
)
from client import blocking as blocking_module

QUICK = Reconnect(first=0.05, greatest=0.3)


def played(story: Callable[[aio.Client], Awaitable[None]], **options: object) -> None:
    async def play(address: str) -> None:
        async with aio.Client(address, **options) as client:  # type: ignore[arg-type]
            await story(client)

    with broker_process() as broker:
        asyncio.run(play(broker.address), debug=True)


def test_both_clients_have_the_same_calls() -> None:
    def calls(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert calls(blocking_module.Client) - calls(aio.Client) == {"publisher"}
    assert calls(aio.Client) - calls(blocking_module.Client) == {"open", "publish_batches"}
    assert calls(Subscription) == calls(aio.Subscription)


def test_several_subscriptions_in_few_requests() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        wanted = [SubscriptionDefinition(f"q{n}", "cayuga", f"FILTER{{x > {n}}}(S)") for n in range(600)]
        wanted[300] = SubscriptionDefinition("wrong", "cayuga", "FILTER{y > 1}(S)")
        found = await client.subscribe_many(wanted, window=5)
        refused = [each for each in found if not isinstance(each, aio.Subscription)]
        assert [type(each) for each in refused] == [QueryError]
        assert "unknown attribute 'y'" in str(refused[0])
        await client.publish("S", {"x": 2}, time=1)
        for each in found[:2]:
            assert isinstance(each, aio.Subscription)
            notification = await each.next(5.0)
            assert notification is not None
            assert notification.data == {"x": 2}
        with pytest.raises(DefinitionError, match="window"):
            await client.subscribe_many([SubscriptionDefinition("new", "cayuga", "S")], window=0)
        assert len(await client.subscriptions()) == 599

    played(story)


def test_a_name_twice_is_a_mistake_of_the_second_alone() -> None:
    def wanted(name: str, query: str = "S") -> SubscriptionDefinition:
        return SubscriptionDefinition(name, "cayuga", query)

    def told(found: list[aio.Subscription | ForetellError] | list[Subscription | ForetellError]) -> list[str]:
        return [str(each) if isinstance(each, ForetellError) else each.name for each in found]

    first = "subscription 'a': this list has another of that name before it"
    listed = [wanted("a"), wanted("b"), wanted("a", "FILTER{x > 1}(S)"), wanted("a"), wanted("c")]
    with broker_process() as broker:
        with Client(broker.address, timeout=60) as client:
            client.add_stream("S", {"x": "int"})
            found = client.subscribe_many(listed)
            assert told(found) == ["a", "b", first, first, "c"]
            assert isinstance(found[2], DefinitionError)
            again = "subscription 'b': this client has subscribed to it already"
            assert told(client.subscribe_many([wanted("b"), wanted("d")])) == [again, "d"]
            assert told(client.subscribe_many([wanted("b")])) == [again]
            client.publish("S", {"x": 2}, time=1)
            for each in (found[0], found[1], found[4]):
                assert isinstance(each, Subscription)
                assert each.next(60) is not None
            assert [each.name for each in client.subscriptions()] == ["a", "b", "c", "d"]

        async def story() -> None:
            async with aio.Client(broker.address, timeout=60) as client:
                assert told(await client.subscribe_many(listed)) == ["a", "b", first, first, "c"]

        asyncio.run(story())


def test_publish_and_subscribe() -> None:
    async def story(client: aio.Client) -> None:
        await client.ping()
        await client.add_stream("S", {"x": "int"})
        async with await client.subscribe("all", query="SELECT * FROM S", lineage=True) as subscription:
            assert subscription.attached is False
            assert await subscription.poll() is None
            assert (await client.publish("S", {"x": 1}, time=1)).count == 1
            receipt = await client.publish_batch("S", [2, 1, 3], [(2,), (9,), (3,)])
            assert (receipt.count, [late.index for late in receipt.refused]) == (2, [1])
            ends = []
            async for notification in subscription:
                ends.append(notification.end)
                if len(ends) == 3:
                    break
            assert ends == [1, 2, 3]
            assert await subscription.next(0.05) is None
        assert [stream.name for stream in await client.streams()] == ["S"]
        assert await client.subscriptions() == []
        assert (await client.statistics())["broker"]["events"] == 3

    played(story)


def test_a_durable_subscription_goes_on_where_it_was_acknowledged() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        async with await client.subscribe("all", query="SELECT * FROM S", durable="mine") as subscription:
            assert subscription.durability == "memory"
            await subscription.acknowledge()  # of nothing
            await client.publish_batch("S", [1, 2], [(1,), (2,)])
            assert [(await anext(subscription)).position for _ in range(2)] == [1, 2]
            await subscription.acknowledge(1)
            with pytest.raises(ProtocolError, match="2 is the last position that was sent"):
                await subscription.acknowledge(3)
            with pytest.raises(DefinitionError, match="expected a position"):
                await subscription.acknowledge(0)
        await client.publish("S", {"x": 3}, time=3)
        async with await client.subscribe("all", durable="mine") as subscription:
            found = [await anext(subscription) for _ in range(2)]
            assert [(each.position, each.redelivered) for each in found] == [(2, True), (3, False)]
            await client.forget("mine")
            assert await subscription.poll() is None
        assert await client.subscriptions() == []
        with pytest.raises(UnknownSubscription):
            await client.forget("mine")

    played(story)


def test_notifications_of_a_cursor_acknowledge_and_refuse_themselves_and_come_again() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        mine = Durable("mine", retain=10)
        async with await client.subscribe("all", query="SELECT * FROM S", durable=mine) as subscription:
            await client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
            first, second, third = [await anext(subscription) for _ in range(3)]
            await first.acknowledge()
            await second.refuse("of no use")
            await third.acknowledge()
        async with await client.subscribe("all", durable=Durable("mine", since=1)) as subscription:
            assert [(await anext(subscription)).end for _ in range(2)] == [1, 3]
            (letter,) = await client.dead_letters("mine")
            assert (letter.position, letter.reason, letter.notification.end) == (2, "of no use", 2)
            await client.requeue("mine", 2)
            again = await anext(subscription)
            assert (again.position, again.end, again.id) == (4, 2, second.id)
            await client.refuse("all", "still of no use")
        await client.discard("mine", 4)
        assert await client.dead_letters("mine") == []

    played(story)


def test_what_nobody_acknowledges_comes_again_until_it_was_too_often() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        wanted = Durable("mine", acknowledge_within=0.01, deliveries_max=2)
        async with await client.subscribe("all", query="SELECT * FROM S", durable=wanted) as subscription:
            await client.publish("S", {"x": 1}, time=1)
            told = [await subscription.next(60) for _ in range(3)]
            assert [(each.kind, each.position, each.limit) for each in told if each is not None] == [
                ("match", 1, None),
                ("match", 1, None),
                ("incomplete", 1, "deliveries_max"),
            ]
        assert [each.reason for each in await client.dead_letters("mine")] == ["deliveries_max"]

    played(story)


def test_errors_are_those_of_the_blocking_client() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        await client.publish("S", {"x": 1}, time=5)
        for kind, call in (
            (UnknownStream, client.publish("T", {})),
            (LateEvent, client.publish("S", {"x": 1}, time=1)),
            (QueryError, client.subscribe("q", query="SELECT")),
            (DefinitionError, client.add_stream("S", {"x": "float"})),
            (DefinitionError, client.subscribe("a b", query="x")),
            (DefinitionError, client.subscribe("q", query="SELECT * FROM S", window=0)),
        ):
            with pytest.raises(kind) as caught:
                await call
            assert type(caught.value) is kind
        await client.ping()

    played(story)


def test_many_requests_are_under_way_at_once_and_taken_in_order() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        await client.ping()
        receipts = await asyncio.gather(*(client.publish("S", {"x": n}, time=n) for n in range(300)))
        assert [receipt.first_id for receipt in receipts] == list(range(1, 301))
        batches = [([300 + n] * 9_000, [(n,)] * 9_000) for n in range(10)]
        counts = [receipt.count async for receipt in client.publish_batches("S", batches, window=4)]
        assert counts == [9_000] * 10

    played(story)


def test_batches_travel_together_and_each_has_its_receipt() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        batches = [([n] * 3, [(n,)] * 3) for n in range(20)]
        batches[7] = ([7, 5, 7], [(7,)] * 3)
        batches.append(([20] * 9_000, [(20,)] * 9_000))
        publishing = client.publish_batches("S", batches, window=2, message_events=10)
        found = [receipt async for receipt in publishing]
        assert [each.count for each in found] == [3] * 7 + [2] + [3] * 12 + [9_000]
        assert [each.first_id for each in found] == [1 + 3 * n - (n > 7) for n in range(21)]
        assert [[late.index for late in each.refused] for each in found] == [[]] * 7 + [[1]] + [[]] * 13
        with pytest.raises(EventError, match="row 1, attribute 'x': expected int"):
            async for _ in client.publish_batches("S", [([30], [(1,)]), ([30, 30], [(1,), ("y",)])], message_events=9):
                pass
        with pytest.raises(DefinitionError, match="expected message_events"):
            await anext(client.publish_batches("S", batches, message_events=-1))

    played(story)


def test_readers_and_writers_do_not_hold_each_other_up() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        subscriptions = [await client.subscribe(f"s{n}", query="SELECT * FROM S", window=8) for n in range(5)]

        async def read(subscription: aio.Subscription) -> list[int | None]:
            ends: list[int | None] = []
            while len(ends) < 500:
                notification = await subscription.next(60)
                assert notification is not None
                ends.append(notification.end)
            return ends

        async def write() -> None:
            for first in range(0, 500, 50):
                await client.publish_batch("S", list(range(first, first + 50)), [(1,)] * 50)

        *read_by, _ = await asyncio.gather(*map(read, subscriptions), write())
        assert read_by == [list(range(500))] * 5

    played(story)


def test_a_cancelled_call_loses_nothing_of_others() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {"x": "int"})
        subscription = await client.subscribe("all", query="SELECT * FROM S")
        for n in range(50):
            reading = asyncio.create_task(subscription.next())
            publishing = asyncio.create_task(client.publish("S", {"x": n}, time=n))
            await asyncio.sleep(0.001 * (n % 3))
            reading.cancel()
            if n % 2:
                publishing.cancel()
            results = await asyncio.gather(reading, publishing, return_exceptions=True)
            if not isinstance(results[0], BaseException):
                await client.publish("S", {"x": n}, time=n)  # it was read in time; have one more instead
        await client.ping()
        found = 0
        while await subscription.next(0.2) is not None:
            found += 1
        assert found >= 25

    played(story)


def test_a_reader_ends_when_its_subscription_is_closed_elsewhere() -> None:
    async def story(client: aio.Client) -> None:
        await client.add_stream("S", {})
        subscription = await client.subscribe("all", query="SELECT * FROM S")
        reading = asyncio.create_task(subscription.next())
        await asyncio.sleep(0.05)
        await subscription.close()
        assert await asyncio.wait_for(reading, 60) is None

    played(story)


def test_without_a_broker_or_a_session() -> None:
    async def play() -> None:
        began = time.monotonic()
        with pytest.raises(ConnectionLost, match=r"no broker answers at tcp://127.0.0.1:9 within 0.3 s"):
            await aio.Client("tcp://127.0.0.1:9", timeout=0.3).open()
        assert time.monotonic() - began < 60
        client = aio.Client()
        with pytest.raises(ConnectionLost, match="is not open"):
            await client.ping()
        await client.close()

    asyncio.run(play(), debug=True)


def test_a_broker_that_ends_ends_the_session_with_its_reason() -> None:
    async def play(address: str, end: Callable[[], object]) -> None:
        async with aio.Client(address, timeout=60) as client:
            await client.add_stream("S", {"x": "int"})
            subscription = await client.subscribe("all", query="SELECT * FROM S")
            await client.publish("S", {"x": 1}, time=1)
            end()
            first = await subscription.next(60)
            assert first is not None
            with pytest.raises(ConnectionLost, match="the broker is stopping"):
                await subscription.next(60)
            with pytest.raises(ConnectionLost):
                await client.ping()

    with broker_process() as broker:
        asyncio.run(play(broker.address, broker.process.terminate), debug=True)


def test_it_comes_back_after_a_restart_and_tells_the_gap() -> None:
    told: list[FlowEvent] = []

    async def play() -> None:
        with broker_process() as broker:
            async with aio.Client(broker.address, timeout=60, reconnect=QUICK, on_event=told.append) as client:
                await client.add_stream("S", {"x": "int"})
                subscription = await client.subscribe("all", query="SELECT * FROM S")
                reading = asyncio.create_task(subscription.next())
                await asyncio.sleep(0)
                broker.process.kill()
                broker.process.wait()
                await asyncio.sleep(0.5)
                with broker_process(f'address = "{broker.address}"'):
                    await client.publish("S", {"x": 1}, time=1)
                    gap = await asyncio.wait_for(reading, 60)
                    assert gap is not None
                    assert gap.limit == "connection"
                    match = await subscription.next(60)
                    assert match is not None
                    assert match.end == 1

    asyncio.run(play(), debug=True)
    kinds = [event.happening for event in told]
    assert kinds[:2] == [Happening.LOST, Happening.WAITING]
    assert {Happening.RESTORED, Happening.GAP} <= set(kinds)


def test_a_line_that_is_cut_loses_nothing_and_repeats_nothing() -> None:
    async def play(address: str, there: str, cut: Callable[[], None]) -> list[int | None]:
        ends: list[int | None] = []
        async with aio.Client(there) as publisher, aio.Client(address, reconnect=QUICK) as client:
            await publisher.add_stream("S", {"x": "int"})
            subscription = await client.subscribe("all", query="SELECT * FROM S", window=16)

            async def read() -> None:
                while len(ends) < 600:
                    notification = await subscription.next(60)
                    assert notification is not None
                    ends.append(notification.end)

            reading = asyncio.create_task(read())
            for time_ in range(600):
                await publisher.publish("S", {"x": 1}, time=time_)
                if time_ % 150 == 75:
                    cut()
            await reading
        return ends

    with broker_process() as broker, CutLine(broker.address) as line:
        assert asyncio.run(play(line.address, broker.address, line.cut), debug=True) == list(range(600))


def test_without_a_socket_for_a_connection_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client is asked for in the meantime waits, as for any other reason that may pass."""
    told: list[FlowEvent] = []

    async def play() -> None:
        with broker_process() as broker:
            async with aio.Client(broker.address, timeout=60, reconnect=QUICK, on_event=told.append) as client:
                monkeypatch.setattr(contexts, "SOCKETS_MAX", 2)
                broker.process.kill()
                broker.process.wait()
                with broker_process(f'address = "{broker.address}"'):
                    while not told:
                        await asyncio.sleep(0.01)
                    asked = asyncio.create_task(client.ping())
                    while not any("cannot open a socket" in event.reason for event in told):
                        await asyncio.sleep(0.01)
                    monkeypatch.undo()
                    await asked

    asyncio.run(asyncio.wait_for(play(), 120), debug=True)
    assert Happening.RESTORED in {event.happening for event in told}  # and then that broker ends, too


def test_a_silent_broker_is_a_timeout_whose_outcome_is_unknown() -> None:

    async def play(address: str, stop: Callable[[], object]) -> None:
        async with aio.Client(address) as client:
            client._connection._timeout = 0.5
            stop()
            with pytest.raises(RequestTimeout, match="the outcome of the request is unknown"):
                await client.ping()

    with broker_process() as broker:
        asyncio.run(play(broker.address, lambda: broker.process.send_signal(signal.SIGSTOP)), debug=True)
