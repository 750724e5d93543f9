"""Commands of the shell in this process: what one prints, or what it complains of in one line."""

from __future__ import annotations

import pytest

from broker.command.shell import perform


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The lines of a command that succeeds."""
    assert perform(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out.splitlines()


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on standard error of a command that must fail, without the name of the program."""
    assert perform(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("foretell: ")
    return lines[0].removeprefix("foretell: ")
