"""A batch of which every event is refused does not go unseen: a receipt can raise, and a warning is given once."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles.broker_process import broker_process

from client import Client, EarlyEvent, LateEvent, Receipt, Refusal, RefusedWarning, aio

PLACE = Path(__file__).name


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with broker_process() as broker:
        yield broker.address


def test_a_receipt_raises_for_what_was_refused() -> None:
    Receipt(3, 5, 1).raise_for_refused()
    late = Refusal(1, "late", "expected a time of 5 or later, found 4")
    with pytest.raises(LateEvent, match=r"^row 1: expected a time of 5 or later, found 4$"):
        Receipt(3, 5, 1, (late,)).raise_for_refused()
    early = Refusal(0, "early", "too far ahead")
    with pytest.raises(EarlyEvent, match=r"^row 0: too far ahead \(and 1 more of 5 events\)$"):
        Receipt(3, 5, 1, (early, late)).raise_for_refused()


def told(publish: Callable[[], object]) -> list[str]:
    """The warnings, each at the line of the program."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        publish()
    assert [each.category for each in found] == [RefusedWarning] * len(found)
    assert {Path(each.filename).name for each in found} <= {PLACE}
    return [str(each.message) for each in found]




@pytest.mark.parametrize("way", range(4))
def test_a_batch_of_late_events_warns_once(address: str, way: int) -> None:
    stream = f"Blocking{way}"

    def publish(client: Client, times: list[int]) -> None:
        rows = [(each,) for each in times]
        if way == 0:
            client.publish_batch(stream, times, rows)
        elif way == 1:
            client.publish_columns(stream, {"x": times}, times)
        else:
            with client.publisher(stream, message_events=100 * (way == 3)) as publisher:
                publisher.publish_batch(times, rows)
                publisher.publish_batch(times, rows)

    with Client(address, timeout=60) as client:
        client.add_stream(stream, {"x": "int"})
        assert told(lambda: publish(client, [1_000_000, 1_000_001])) == []
        assert told(lambda: publish(client, [2, 1_000_001])) == []  # one of two
        (found,) = told(lambda: publish(client, [2, 3]))
        assert found == (
            f"stream '{stream}': all 2 events of a batch were refused (expected a time of 1000001 or later, found 2): "
            "look at the receipt's refused, or call its raise_for_refused(); this is said once"
        )
        assert told(lambda: publish(client, [2, 3])) == []
    with Client(address, timeout=60) as client:
        assert len(told(lambda: publish(client, [2, 3]))) == 1  # once for each client


@pytest.mark.parametrize("way", range(3))
def test_in_asyncio_too(address: str, way: int) -> None:
    stream = f"Aio{way}"

    async def publish(client: aio.Client, times: list[int]) -> Any:
        rows = [(each,) for each in times]
        if way == 0:
            return await client.publish_batch(stream, times, rows)
        if way == 1:
            return await client.publish_columns(stream, {"x": times}, times)
        return await anext(client.publish_batches(stream, [(times, rows)]))

    async def story() -> None:
        async with aio.Client(address, timeout=60) as client:
            await client.add_stream(stream, {"x": "int"})
            await publish(client, [2_000_000])
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                for _ in range(2):
                    receipt = await publish(client, [3, 2])
                    with pytest.raises(LateEvent, match=r"^row 0: .* \(and 1 more of 2 events\)$"):
                        receipt.raise_for_refused()
            assert [(each.category, Path(each.filename).name) for each in found] == [(RefusedWarning, PLACE)]

    asyncio.run(story())
