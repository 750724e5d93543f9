"""The number of results, before anybody reads one."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options

CHAIN = "FILTER{p < 3}(FILTER{time - start < 20}(FILTER{ty = 'A'}(S) NEXT{$2.ty = $1.ty} S) NEXT{$2.ty = $1.ty} S)"


@pytest.mark.parametrize("groups", [True, False])
@pytest.mark.parametrize("later", [True, False])
def test_a_match_that_begins_when_its_subscription_came_is_not_counted(groups: bool, later: bool) -> None:
    off = () if groups else ("groups",)
    engine = Engine(Options(batches=later, executors_off=off))
    engine.add_stream("S", {"ty": "string", "p": "float"})
    engine.subscribe("all", query="SELECT p AS q FROM FILTER{ty = 'A'}(S)")
    engine.publish("S", [10], [("A", 9.0)])
    engine.subscribe("chain", query=f"SELECT * FROM {CHAIN}")
    results = engine.publish("S", [10, 12, 14, 16], [("A", 2.0)] * 4)
    assert len(results) == len(list(results)) == 5
    assert {match.start for match in results if match.subscription == "chain"} == {12}
