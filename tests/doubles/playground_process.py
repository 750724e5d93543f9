"""A playground in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final
from urllib.request import Request, urlopen


@final
@dataclass(frozen=True, slots=True)
class PlaygroundProcess:
    """A running playground, and the token of its pages."""

    address: str
    token: str

    def ask(self, question: str, **body: Any) -> dict[str, Any]:
        """An answer of it."""
        headers = {"content-type": "application/json", "x-foretell-token": self.token}
        request = Request(f"{self.address}/playground/ask/{question}", json.dumps(body).encode(), headers)
        with urlopen(request, timeout=60) as response:
            found: dict[str, Any] = json.load(response)
        return found


@contextmanager
def playground_process(arguments: Sequence[str] = ()) -> Iterator[PlaygroundProcess]:
    """A playground that is ended with the block."""
    command = [sys.executable, "-m", "broker.command", "playground", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("playground at http://127.0.0.1:"), line
        address = line.split()[-1]
        with urlopen(f"{address}/playground/session", timeout=60) as response:
            token = json.load(response)["token"]
        yield PlaygroundProcess(address, token)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
