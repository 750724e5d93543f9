"""The table of metrics: every figure of a broker has a row, names are as Prometheus wants them, the page is new."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.broker_process import broker_process
from prometheus_client.parser import text_string_to_metric_families
from unit.server.metrics_page import PAGE, page

from broker import __version__
from broker.events import DefinitionError
from broker.kernel import Limits
from broker.kernel.limits import LABELS_MAX
from broker.kernel.named_counts import OTHER, NamedCounts
from broker.server.durations import BUCKETS
from broker.server.metric_table import COUNTER, LEFT_OUT, PROCESS, ROWS
from broker.server.metrics import exposition
from client import Client


def test_names_units_and_texts() -> None:
    names = [row.metric for row in ROWS]
    assert len(set(names)) == len(names)
    assert len({(row.group, row.figure) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.metric.endswith("_total") == (row.kind == COUNTER)
        assert "microseconds" not in row.metric
        assert row.scale == 1 or row.metric.removesuffix("_total").endswith("_seconds")
        assert row.help.endswith(".")


def test_the_page_is_as_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make metrics`"


def test_every_figure_of_a_broker_has_a_row(tmp_path: Path) -> None:
    with broker_process(f'[journal]\npath = "{tmp_path / "data"}"\n') as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        client.add_stream("D", {"x": "int"}, disorder="buffer", lateness=5_000_000)
        with client.subscribe("all", "cel", "S") as every, client.subscribe("late", "cel", "D"):
            client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
            assert every.next(30) is not None
            client.publish_batch("D", [4, 10_000_003], [(1,), (2,)])
            statistics = client.statistics()
    known = {(row.group, row.figure) for row in ROWS} | LEFT_OUT
    found = set()
    for group, figures in statistics.items():
        if group == BUCKETS:
            continue
        nested = group in ("by_stream", "by_subscription")
        assert figures, group
        for each in figures.values() if nested else (figures,):
            found |= {(group, figure) for figure, value in each.items() if type(value) in (int, float)}
    assert not found - known, "figures without a row"
    assert not known - found, "rows of figures that no broker has"
    families = {each.name: each for each in text_string_to_metric_families(exposition(statistics).decode())}
    for row in ROWS:
        family = families[row.metric.removesuffix("_total")]
        assert (family.type, family.documentation) == (row.kind, row.help)
    [info] = families["foretell_build_info"].samples
    assert (info.value, info.labels["version"]) == (1, __version__)
    assert info.labels["build"] in ("compiled", "pure Python")
    for name, kind, _ in PROCESS:
        assert families[name.removesuffix("_total")].type == kind
    labelled = families["foretell_stream_events"].samples
    assert {sample.labels["stream"]: sample.value for sample in labelled} == {"S": 3, "D": 2}
    assert families["foretell_engine_finality_behind_seconds"].samples[0].value == pytest.approx(10)


def test_names_beyond_the_limit_are_counted_together() -> None:
    counts = NamedCounts(("events",), 2)
    for name in ("a", "b", "c", "d", "a"):
        counts.row(name)[0] += 1
    known = {"a", "b", "c", "d"}
    assert counts.statistics(known) == {"a": {"events": 2}, "b": {"events": 1}, OTHER: {"events": 2}}
    known.remove("a")
    assert counts.statistics(known) == {"b": {"events": 1}, OTHER: {"events": 2}}
    counts.prune(known)
    counts.row("c")[0] += 1
    assert counts.statistics(known) == {"b": {"events": 1}, "c": {"events": 1}, OTHER: {"events": 2}}


def test_one_with_the_name_other_is_counted_with_the_others() -> None:
    counts = NamedCounts(("events",), 1)
    for name in (OTHER, "b"):
        counts.row(name)[0] += 1
    assert counts.statistics({OTHER, "b"}) == {OTHER: {"events": 2}}


def test_labels_are_limited() -> None:
    assert Limits(labels=LABELS_MAX).labels == LABELS_MAX
    with pytest.raises(DefinitionError, match=r"limits.labels: expected at most 500, found 501"):
        Limits(labels=LABELS_MAX + 1)
