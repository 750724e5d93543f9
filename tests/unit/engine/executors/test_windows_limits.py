"""Windows of more starts, or events, than a partition may keep: what waits is counted, and what is told is whole.

Limits are small here. The benchmarks `growth` measure the same with those that users have.
"""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.engine.executors.windows.pane_columns import PaneColumns

EVENTS = 400


def told(
    window: str, times: list[int], options: Options, by: str = "", disorder: Any = "arrival"
) -> tuple[dict[int, Any], int]:
    """What windows have, by the id of their last event, and how often a limit was told."""
    engine = Engine(options)
    engine.add_stream("S", {"k": "string", "v": "float"}, None, disorder)
    engine.subscribe("q", "window", f"FROM S {by} WINDOW {window} AGGREGATE count(*) AS n, sum(v) AS s", lineage=True)
    found: list[Any] = []
    for first in range(0, len(times), 50):
        part = times[first : first + 50]
        found += engine.publish("S", part, [("k", float(first + at)) for at in range(len(part))])
        engine.check_invariants()
    found += engine.finish()
    for match in found:
        if match.kind == "match":
            values = [float(number - 1) for number in match.lineage]
            assert match.data == {"n": len(values), "s": sum(values)}
    whole = {match.lineage[-1]: match.data["n"] for match in found if match.kind == "match"}
    return whole, sum(match.kind == "incomplete" for match in found)


@pytest.mark.parametrize("by", ["", "BY k"])
@pytest.mark.parametrize("columns", [True, False])
def test_starts_that_are_over_do_not_count(by: str, columns: bool) -> None:
    """A partition has up to twice the columns of what waits."""
    options = Options(nodes_max=100, runs_max=1, window_columns=columns)
    for window in ("LAST 90 EVENTS", "LAST 89 us"):
        assert told(window, list(range(EVENTS)), options, by) == ({n: min(n, 90) for n in range(1, EVENTS + 1)}, 0)
    whole = dict.fromkeys(range(90, EVENTS + 1), 90)
    assert told("LAST 90 EVENTS EVERY 1 EVENT", list(range(EVENTS)), options, by) == (whole, 0)


@pytest.mark.parametrize("window", ["LAST 90 EVENTS", "LAST 89 us"])
def test_nor_where_late_events_may_revise_windows(window: str) -> None:
    """There a limit that is hit suspends the subscription."""
    whole, incomplete = told(window, list(range(EVENTS)), Options(nodes_max=100, runs_max=1), disorder="speculate")
    assert (whole, incomplete) == ({n: min(n, 90) for n in range(1, EVENTS + 1)}, 0)


@pytest.mark.parametrize("by", ["", "BY k"])
@pytest.mark.parametrize("window", ["LAST 101 EVENTS", "LAST 100 us"])
def test_a_window_that_cannot_be_kept_whole_is_not_told(window: str, by: str) -> None:
    whole, incomplete = told(window, list(range(EVENTS)), Options(nodes_max=100), by)
    assert whole == {n: n for n in range(1, 101)}
    assert incomplete > 0


def test_windows_are_told_again_once_what_was_given_up_is_too_old() -> None:
    times = [*range(200), *range(1_000, 3_000, 10)]
    whole, incomplete = told("LAST 300 us", times, Options(nodes_max=100))
    assert whole == {n: n for n in range(1, 101)} | {n: min(n - 200, 31) for n in range(201, 401)}
    assert incomplete > 0


def test_a_window_of_the_clock_with_too_many_events_is_not_told_and_the_next_one_is() -> None:
    times = [*range(150), *range(1_000, 1_100), *range(2_000, 2_020)]
    for columns in (True, False):
        for by in ("", "BY k"):
            whole, incomplete = told("EVERY 1000 us", times, Options(nodes_max=100, window_columns=columns), by)
            assert (whole, incomplete) == ({250: 100, 270: 20}, 1)


def test_windows_of_the_clock_that_overlap_are_told_where_they_are_whole() -> None:
    times = [*range(0, 600, 10), *range(600, 700), *range(700, 1_400, 10)]
    for columns in (True, False):
        whole, incomplete = told("LAST 200 us EVERY 100 us", times, Options(nodes_max=110, window_columns=columns))
        # With 100 events of [600, 700) beside the 10 of each other 100 us, no limit is hit; with 9 less, it is.
        assert incomplete == 0
        assert set(whole.values()) == {10, 20, 110}
        fewer, incomplete = told("LAST 200 us EVERY 100 us", times, Options(nodes_max=109, window_columns=columns))
        assert incomplete > 0
        assert fewer == {n: count for n, count in whole.items() if count < 110}


def test_a_session_with_too_many_events_is_not_told_and_the_next_one_is() -> None:
    times = [*range(150), *range(1_000, 1_050)]
    for columns in (True, False):
        whole, incomplete = told("SESSION 5 us", times, Options(nodes_max=100, window_columns=columns))
        assert (whole, incomplete) == ({200: 50}, 1)


def test_beyond_the_limit_columns_are_not_copied_at_each_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies are of all that is kept: one for as many events as were copied."""
    copied: list[int] = []
    behind = PaneColumns.behind

    def counted(self: Any, *arguments: Any) -> Any:
        copied.append(len(self.items))
        return behind(self, *arguments)

    monkeypatch.setattr(PaneColumns, "behind", counted)
    for window in ("LAST 90 EVENTS", "LAST 300 EVENTS", "AFTER any* MATCHING any* [v < 0]"):
        copied.clear()
        told(window, list(range(2_000)), Options(nodes_max=100, runs_max=100))
        assert sum(copied) <= 3 * 2_000
