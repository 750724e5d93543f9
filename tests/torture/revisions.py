"""A broker killed while events come late and arcs change: `python -m torture.revisions [KILLS] [SEED] [FSYNC]`.

Run in tests/, with the repository on PYTHONPATH. A client publishes in any order, withdraws, promises and updates, one
request after the other; the broker is killed at random moments and started again. In the end the durable subscriber
must have been told, at each position, the insertion, retraction or promise of an engine that was never killed.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from torture.kills import PATIENCE, QUICK, free_port, killed_now_and_then

from broker.engine import Engine
from broker.events import ForetellError
from client import Client, Durable

ATTRIBUTES: Final = {"k": "string", "x": "int"}
QUERY: Final = "FROM D BY k\nSTART a\nFINAL c\none: a -> b WHEN x < 5\ntwo: b -> c WHEN x >= 3\nWITHIN 400"
NUMBERED: Final = {**ATTRIBUTES, "n": "int"}
SUBSCRIBED: Final = (("all", "D", "desk"), ("numbered", "N", "bench"))
BESIDE: Final = ("position", "redelivered")
BEHIND: Final = 500
"""Events come at most so much behind the newest."""


def revisions(kills: int, seed: int, fsync: str, folder: Path) -> str:
    """Kill it so often. What was met, in words; raises AssertionError for what must not be."""
    text = (
        f'address = "tcp://127.0.0.1:{free_port()}"\n[log]\nlevel = "error"\n[journal]\npath = "{folder}/data"\n'
        f'fsync = "{fsync}"\ncheckpoint_bytes = 10_000\nsegment_bytes = 50_000\n[limits]\n'
        "durable_notifications = 100_000\ndurable_bytes = 100_000_000\n"
    )
    engine = Engine()
    engine.add_stream("D", ATTRIBUTES, disorder="speculate")
    engine.add_stream("N", NUMBERED, disorder="speculate", sequence="n")
    engine.subscribe("all", "afa", QUERY)
    engine.subscribe("numbered", "afa", QUERY.replace("FROM D", "FROM N"))
    chance = random.Random(seed)
    lines: list[dict[str, Any]] = []
    met: Counter[str] = Counter()
    with (
        killed_now_and_then(text, seed) as killed,
        Client(killed.address, timeout=PATIENCE, reconnect=QUICK) as client,
    ):
        client.add_stream("D", ATTRIBUTES, disorder="speculate")
        client.add_stream("N", NUMBERED, disorder="speculate", sequence="n")
        for name, stream, desk in SUBSCRIBED:
            query = QUERY.replace("FROM D", f"FROM {stream}")
            client.subscribe(name, "afa", query, durable=Durable(desk, retain=100_000)).close()
        due, number = chance.randrange(1, 40), 0
        while killed.kills < kills:
            number += 1
            word, on_engine, on_client = asked(number, chance, engine, client)
            expected, refusal = outcome(on_engine)
            _, refused = outcome(on_client)
            assert (refusal is None) == (refused is None), (word, refusal, refused)
            lines += [] if expected is None else [result.line() for result in expected]
            met[word if refusal is None else f"{word} refused"] += 1
            if number >= due:
                due = number + chance.randrange(1, 40)
                killed.enough.release()
        for name, stream, desk in SUBSCRIBED:
            mine = [line for line in lines if line["subscription"] == name]
            query = QUERY.replace("FROM D", f"FROM {stream}")
            with client.subscribe(name, "afa", query, durable=Durable(desk, replay=1)) as subscription:
                for position, line in enumerate(mine, 1):
                    notification = subscription.next(PATIENCE)
                    assert notification is not None, f"{name}: {position - 1:,} of {len(mine):,} came"
                    told = {key: of for key, of in notification.line().items() if key not in BESIDE}
                    assert told == line, (name, position)
                    met[f"told {notification.kind}"] += 1
                assert subscription.next(0.2) is None
    return f"killed {killed.kills:,} times with fsync {fsync}: {dict(sorted(met.items()))}"


def asked(
    number: int, chance: random.Random, engine: Engine, client: Client
) -> tuple[str, Callable[[], Any], Callable[[], Any]]:
    """A request by name, as a call of the engine and of the client."""
    moment = 20 * number
    match chance.randrange(12):
        case 0 | 1:
            id = chance.randrange(max(1, 3 * number - 60), 3 * number + 1)
            return "retract", lambda: engine.retract(id), lambda: client.retract(id)
        case 2:
            time = moment - BEHIND
            where = chance.choice((None, "k = 'a'", "k = 'b'", "x < 5", "k = 'b' AND NOT x < 5"))
            stream = None if where is None else "D"
            return (
                "punctuate",
                lambda: engine.punctuate(time, stream, where),
                lambda: client.punctuate(time, stream, where),
            )
        case 3:
            insert = [f"more{number}: a -> b WHEN x = {chance.randrange(9)}"] if chance.random() < 0.7 else []
            delete = [] if insert else [f"more{chance.randrange(1, number + 1)}"]
            start = chance.choice((None, moment - 100))
            return (
                "update",
                lambda: engine.update("all", insert, delete, start),
                lambda: client.update("all", insert, delete, start),
            )
        case 4:
            gap = chance.randrange(max(1, number - 20), number + 1)
            return "gap", lambda: engine.declare_gap("N", gap), lambda: client.declare_gap("N", gap)
        case 5 | 6:
            counted = max(1, number + chance.randrange(-9, 2))
            row = (chance.choice("ab"), chance.randrange(9), counted)
            ids = [-number]
            return (
                "publish a number",
                lambda: engine.publish("N", [20 * counted], [row], ids),
                lambda: client.publish("N", dict(zip(NUMBERED, row)), time=20 * counted, id=-number),
            )
        case _:
            times = [moment + chance.randrange(-BEHIND + 20, 20) for _ in range(3)]
            rows = [(chance.choice("ab"), chance.randrange(9)) for _ in range(3)]
            ids = [3 * number + at for at in range(3)]
            return (
                "publish",
                lambda: engine.publish("D", *fitting(engine, times, rows, ids)),
                lambda: client.publish_batch("D", times, rows, ids),
            )


def fitting(engine: Engine, *columns: list[Any]) -> list[list[Any]]:
    """A batch without the events that are refused alone."""
    gone = {index for index, _, _ in engine.faults("D", *columns)}
    return [[value for index, value in enumerate(column) if index not in gone] for column in columns]


def outcome(call: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a call returns, or why it was refused."""
    try:
        return call(), None
    except ForetellError as error:
        return None, type(error).code


def main(count: str = "200", seed: str = "0", fsync: str = "always") -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{revisions(int(count), int(seed), fsync, Path(folder))}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
