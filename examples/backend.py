"""A backend developer's three questions to a broker: `python backend.py [ADDRESS]`.

What is matched if two services stamp their events themselves, and one is slow? Which order was not paid within two
seconds, although nothing else happens? And does a worker that was restarted get what it had not acknowledged?
"""

from __future__ import annotations

import asyncio
import sys
import time

from client import DEFAULT_ADDRESS, aio

UNPAID = """
PATTERN SEQ(Order o, ~(Payment p))
WHERE skip_till_next_match(o) { p.number = o.number }
WITHIN 2 s
RETURN o.number AS number, o.amount AS amount
"""
HOT_AFTER_OPEN = """
SELECT door, celsius FROM
  FILTER{celsius > 8 AND DUR <= 1 s}((SELECT name AS door FROM Door) NEXT{$2.place = $1.door} Probe)
"""
MILLISECOND = 1_000


async def unpaid_orders(client: aio.Client) -> None:
    """The broker's clock stamps these events, and reports what did not happen without waiting for the next event."""
    await client.add_stream("Order", {"number": "int", "amount": "float"})
    await client.add_stream("Payment", {"number": "int"})
    async with await client.subscribe("unpaid", "sase", UNPAID) as unpaid:
        for number, amount in ((1, 20.0), (2, 35.5), (3, 9.9)):
            await client.publish("Order", {"number": number, "amount": amount})
        await client.publish("Payment", {"number": 2})
        for _ in range(2):
            late = await anext(aiter(unpaid))
            print(f"order {late.data['number']} of {late.data['amount']:.2f} was not paid")


async def two_publishers(client: aio.Client) -> None:
    """Each stamps at its source; the broker holds events back until none before them can come (`lateness`)."""
    late = 2_000 * MILLISECOND
    await client.add_stream("Door", {"name": "string"}, disorder="buffer", lateness=late, idle=late)
    probe = {"place": "string", "celsius": "float"}
    await client.add_stream("Probe", probe, disorder="buffer", lateness=late, idle=late)
    start = time.time_ns() // 1_000 - 300 * MILLISECOND
    async with await client.subscribe("open", query=HOT_AFTER_OPEN) as warm:
        await client.publish("Probe", {"place": "cellar", "celsius": 9.5}, time=start + 300 * MILLISECOND)
        await client.publish("Door", {"name": "cellar"}, time=start)  # it was slower on its way
        found = await anext(aiter(warm))
        after = (found.end - found.start) // MILLISECOND
        print(f"{found.data['door']}: {found.data['celsius']} degrees {after} ms after it opened")


async def worker(address: str, acknowledge: bool) -> None:
    """A durable subscription: what is not acknowledged comes again, to the next process that asks under its name."""
    async with aio.Client(address) as client:
        jobs = await client.subscribe("jobs", query="SELECT task FROM Job", durable="worker")
        await client.publish("Job", {"task": "resize" if not acknowledge else "upload"})
        job = await anext(aiter(jobs))
        print(f"{'done' if acknowledge else 'began'}: {job.data['task']}{', again' if job.redelivered else ''}")
        if acknowledge:
            await job.acknowledge()


async def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_ADDRESS
    async with aio.Client(address) as client:
        await two_publishers(client)
        await unpaid_orders(client)
        await client.add_stream("Job", {"task": "string"})
    await worker(address, acknowledge=False)
    await worker(address, acknowledge=True)


if __name__ == "__main__":
    asyncio.run(main())
