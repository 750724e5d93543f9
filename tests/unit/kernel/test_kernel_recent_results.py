"""The last results of subscriptions at which somebody looks: how many, how long, and that others cost nothing."""

from __future__ import annotations

from doubles.small_engine import SmallEngine, SmallResult

from broker.kernel.attachments import Attachments
from broker.kernel.distribution import Distribution
from broker.kernel.recent_results import (
    LOOKED_AT_MAX,
    LOOKED_AT_MICROSECONDS,
    RECENT_RESULTS_MAX,
    RESULT_BYTES_MAX,
    RecentResults,
)
from broker.wire import decode_result


def test_the_last_results_are_kept_from_the_first_look_on() -> None:
    recent = RecentResults()
    assert recent.look("a", 0) == []
    for number in range(RECENT_RESULTS_MAX + 20):
        recent.note("a", b"%d" % number)
    found = recent.look("a", 1)
    assert len(found) == RECENT_RESULTS_MAX
    assert found[-1] == (RECENT_RESULTS_MAX + 20, b"%d" % (RECENT_RESULTS_MAX + 19))
    recent.note("a", bytes(RESULT_BYTES_MAX + 1))
    assert recent.look("a", 2) == found
    recent.check_invariants()


def test_looking_ends_by_time_and_by_number() -> None:
    recent = RecentResults()
    for number in range(LOOKED_AT_MAX + 1):
        recent.look(f"s{number}", number)
    recent.check_invariants()
    assert "s0" not in recent.kept
    assert "s1" in recent.kept
    recent.look("s5", LOOKED_AT_MICROSECONDS)
    recent.tick(LOOKED_AT_MICROSECONDS + LOOKED_AT_MAX + 1)
    assert list(recent.kept) == ["s5"]
    recent.check_invariants()


def test_only_results_that_somebody_looks_at_are_encoded() -> None:
    made: list[str] = []

    class Counted:
        """A result that says when it is encoded."""

        kind, withdrawn = "match", False

        def __init__(self, name: str, number: int) -> None:
            self.subscription, self.number = name, number

        def line(self) -> dict[str, object]:
            made.append(self.subscription)
            return SmallResult(self.subscription, self.number, self.number, {}).line()

    distribution = Distribution(Attachments(SmallEngine(), None))
    distribution.distribute([Counted("a", 1), Counted("b", 2)])
    assert made == []
    distribution.recent.look("b", 0)
    distribution.distribute([Counted("a", 3), Counted("b", 4)])
    assert made == ["b"]
    ((_, line),) = distribution.recent.look("b", 1)
    assert decode_result(line)["lineage"] == [4]
    assert distribution.counts.known("a") == [2, 0, 0]
