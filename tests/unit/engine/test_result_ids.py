"""The ids of results: what an id is made of, however many subscribers' results are read between two of one."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.engine.results import Results
from broker.engine.subscribing.subscriber import ResultIds, digest


@pytest.mark.parametrize("most", [1, 2, 100])
def test_an_id_is_a_digest_of_all_that_it_is_made_of(most: int) -> None:
    engine = Engine()
    engine.add_stream("S", {"v": "int"})
    for least in range(3):
        engine.subscribe(f"above_{least}", query=f"FILTER{{v > {least}}}(S)")
    found = engine.publish("S", [1], [(5,)])
    assert isinstance(found, Results)
    assert len(list(found)) == 3
    subscribers = [target.first for target in found.read().targets]
    ids = ResultIds(most)
    for ordinal in range(2):
        for trace in (0, (1 << 63) - 1):
            for subscriber in (*subscribers, *reversed(subscribers)):
                assert subscriber is not None
                identity = subscriber.identity()
                assert ids.of(subscriber).id("", trace, ordinal) == digest(identity, trace, ordinal)
                assert ids.of(subscriber).id("said\0", trace, ordinal) == digest(f"{identity}said\0", trace, ordinal)
