"""A broker that is killed and started anew, and all its clients: `python -m torture.storm [CLIENTS] [PROCESSES]`.

Run in tests/, with the repository on PYTHONPATH. Every client has a subscription and comes back by itself. Timed is
from the new broker's first word to when the last one is subscribed again. Then each must be told of the gap, and of
every event that follows, once.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from contextlib import ExitStack
from time import monotonic
from typing import Any, Final

from doubles.broker_process import broker_process, python_process

from client import Client, FlowEvent, Happening, Reconnect, aio

SECONDS_MAX: Final = 10.0
EVENTS: Final = 3
CONFIGURATION: Final = '[log]\nlevel = "error"\n[limits]\nsessions = 5_000\n'
BACK: Final = Reconnect(first=0.1, greatest=1.0)
PATIENCE: Final = 120.0

_CLIENTS: Final = """
    import sys
    from torture.storm import clients
    clients(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


def clients(address: str, first: int, count: int) -> None:
    """So many, in one loop. Prints a line when all are subscribed, one when all are again, and what each was told."""
    asyncio.run(_clients(address, first, count))


async def _clients(address: str, first: int, count: int) -> None:
    back: set[int] = set()
    restored = asyncio.Event()
    opening = asyncio.Semaphore(20)

    async def open_(number: int) -> tuple[aio.Client, aio.Subscription]:
        def tell(event: FlowEvent) -> None:
            if event.happening is Happening.RESTORED:
                back.add(number)
                if len(back) == count:
                    restored.set()

        async with opening:
            client = await aio.Client(address, timeout=PATIENCE, reconnect=BACK, on_event=tell).open()
            await client.add_stream("S", {"n": "int"})
            return client, await client.subscribe(f"client-{number}", query="SELECT * FROM S")

    async def read(subscription: aio.Subscription) -> list[Any]:
        told: list[Any] = []
        while len(told) < EVENTS + 1:
            found = await subscription.next(PATIENCE)
            told.append(None if found is None else found.limit or found.data)
        return told

    opened = await asyncio.gather(*map(open_, range(first, first + count)))
    print("subscribed", flush=True)
    await asyncio.wait_for(restored.wait(), PATIENCE)
    print("back", flush=True)
    told = await asyncio.gather(*(read(subscription) for _, subscription in opened))
    more = [await subscription.poll() for _, subscription in opened]
    print(json.dumps([told, sum(each is not None for each in more)]), flush=True)
    await asyncio.gather(*(client.close() for client, _ in opened))


def storm(count: int, processes: int) -> float:
    """Seconds until so many clients were back. Raises AssertionError where one was told something else."""
    with ExitStack() as stack:
        broker = stack.enter_context(broker_process(CONFIGURATION))
        share = count // processes
        running = [
            stack.enter_context(python_process(_CLIENTS, broker.address, str(number * share), str(share)))
            for number in range(processes)
        ]
        for each in running:
            assert _line(each) == "subscribed"
        broker.process.kill()
        broker.process.wait()
        again = stack.enter_context(broker_process(f'address = "{broker.address}"\n{CONFIGURATION}'))
        begun = monotonic()
        for each in running:
            assert _line(each) == "back"
        seconds = monotonic() - begun
        with Client(again.address, timeout=PATIENCE) as publisher:
            for number in range(EVENTS):
                publisher.publish("S", {"n": number}, time=number)
        expected = ["connection", *({"n": number} for number in range(EVENTS))]
        for each in running:
            told, more = json.loads(_line(each))
            assert told == [expected] * share
            assert more == 0
    return seconds


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, process.communicate()[1]
    return line


def main(count: int = 1_000, processes: int = 2) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a client has about four files; children inherit it
    seconds = storm(count, processes)
    print(f"{count:,} clients in {processes} processes were back after {seconds:.1f} s, each told of the gap")
    assert seconds <= SECONDS_MAX


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
