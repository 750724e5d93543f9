"""The alerts and the dashboard of examples/monitoring ask for metrics that a broker has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[3]
MONITORING: Final = ROOT / "examples" / "monitoring"
DASHBOARD: Final = MONITORING / "grafana" / "provisioning" / "dashboards" / "foretell.json"
METRIC: Final = re.compile(r"\b(?:foretell|process)_[a-z0-9_]+")


def known() -> set[str]:
    """The metrics of docs/metrics.md, which another test compares with a running broker's."""
    rows = re.findall(
        r"^\| `([a-z0-9_]+)` \|.*?\| (\w+) \|", (ROOT / "docs" / "metrics.md").read_text("utf-8"), re.MULTILINE
    )
    names = {name for name, _ in rows}
    return names | {f"{name}_bucket" for name, kind in rows if kind == "histogram"}


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return found


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_a_panel_asks_for_metrics_that_exist(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        asked = METRIC.findall(target["expr"])
        assert asked
        assert set(asked) <= known(), target["expr"]
        counters = [name for name in asked if name.endswith("_total")]
        assert all(re.search(rf"(rate|increase)\({name}", target["expr"]) for name in counters), (
            "a counter as it stands"
        )


def test_panels_lie_beside_each_other() -> None:
    places = [tuple(panel["gridPos"][each] for each in "xy") for panel in panels()]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in panels()}) == len(places)


def test_alerts_ask_for_metrics_that_exist() -> None:
    rules = re.findall(r"expr: (.+)", (MONITORING / "alerts.yml").read_text("utf-8"))
    assert len(rules) >= 9
    for rule in rules:
        asked = METRIC.findall(rule)
        assert asked or rule.startswith("up{")
        assert set(asked) <= known(), rule


def test_the_files_that_compose_names_are_there() -> None:
    text = (MONITORING / "compose.yaml").read_text("utf-8")
    for mounted in re.findall(r"- (\./[\w./-]+):", text):
        assert (MONITORING / mounted).exists(), mounted
    assert (ROOT / "examples" / "Containerfile").exists()
    port = re.search(r'targets: \["foretell:(\d+)"\]', (MONITORING / "prometheus.yml").read_text("utf-8"))
    assert port is not None
    assert f"http://0.0.0.0:{port.group(1)}" in text
