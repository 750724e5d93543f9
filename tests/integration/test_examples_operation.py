"""The examples for operators: a systemd unit and a container file that start what there is, as the pages say."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Final

import pytest

from broker.command.shell import perform

ROOT: Final = Path(__file__).parents[2]
UNIT: Final = ROOT / "examples" / "foretell.service"
CONTAINER: Final = (ROOT / "examples" / "Containerfile").read_text(encoding="utf-8")
BINARY: Final = "/opt/foretell/bin/foretell"
CONFIGURATION: Final = "/etc/foretell/foretell.toml"


def unit() -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys are not all lower case
    parser.read(UNIT, encoding="utf-8")
    return parser


def test_the_unit_starts_what_there_is(tmp_path: Path) -> None:
    service = unit()["Service"]
    path = tmp_path / "foretell.toml"
    path.write_text('address = "tcp://127.0.0.1:0"\n')
    assert service["ExecStart"] == f"{BINARY} serve --config {CONFIGURATION}"
    checked = service["ExecStartPre"].removeprefix(BINARY).replace(CONFIGURATION, str(path)).split()
    assert checked[-1] == "--check"
    assert perform(checked) == 0
    assert (service["KillSignal"], service["ExecReload"]) == ("SIGTERM", "/bin/kill -HUP $MAINPID")
    drain_and_flush = 5 + 5
    assert int(service["TimeoutStopSec"].removesuffix("s")) > drain_and_flush


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    """Where there is no systemd to ask, its keys are at least in the sections that they belong to."""
    sections = unit()
    assert set(sections.sections()) == {"Unit", "Service", "Install"}
    assert sections["Install"]["WantedBy"] == "multi-user.target"
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    copy = tmp_path / UNIT.name
    user = "User=foretell\n"
    text = UNIT.read_text(encoding="utf-8")
    assert user in text
    copy.write_text(text.replace(BINARY, "/bin/true").replace(user, ""))
    done = subprocess.run([program, "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False)
    assert not [line for line in done.stderr.splitlines() if UNIT.name in line], done.stderr


def test_the_container_file_installs_and_starts_what_there_is() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = re.findall(r"'\.\[(\w+)\]'", CONTAINER)
    assert asked
    assert set(asked) <= extras.keys()
    assert f'ENTRYPOINT ["foretell", "serve", "--config", "{CONFIGURATION}"]' in CONTAINER
    assert "USER 10001" in CONTAINER, "not as root"
    assert "STOPSIGNAL SIGTERM" in CONTAINER
    assert "/livez" in CONTAINER


def test_a_broker_takes_the_configuration_for_production(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "examples" / "foretell.toml").read_text("utf-8")
    (tmp_path / "foretell.toml").write_text(text.replace("/var/lib/foretell", str(tmp_path)), "utf-8")
    (tmp_path / "subscriptions.toml").write_text('[streams.Order]\nattributes = { price = "float" }\n', "utf-8")
    assert perform(["serve", "--config", str(tmp_path / "foretell.toml"), "--check"]) == 0
    assert capsys.readouterr().out.startswith("tcp://127.0.0.1:5570")
