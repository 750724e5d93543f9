"""A broker in a process of its own for the tests that need one, and a way to run what others do in theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 30

_SERVE = """
import sys
from pathlib import Path
from broker.events import ForetellError
from broker.server import read_configuration, serve

def playground(token):
    from broker.command.playground.application import playground_of_console
    return playground_of_console(token)

try:
    serve(read_configuration(sys.argv[1], sys.argv[2]), lambda line: print(line, flush=True), None, playground)
except ForetellError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""


@final
@dataclass(frozen=True, slots=True)
class BrokerProcess:
    """A running broker."""

    process: subprocess.Popen[str]
    address: str


def spawn_broker(
    configuration: str = "", place: str = "foretell.toml", environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a broker with the text of a configuration; without an address it takes a free port.

    `environment`: what it has beside ours.
    """
    if "address" not in configuration:
        configuration = 'address = "tcp://127.0.0.1:0"\n' + configuration
    return _python(_SERVE, configuration, place, environment=environment)


@contextmanager
def broker_process(
    configuration: str = "", place: str = "foretell.toml", environment: Mapping[str, str] | None = None
) -> Iterator[BrokerProcess]:
    """A broker that is ended with the block, if it has not ended by itself."""
    process = spawn_broker(configuration, place, environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on "), line or process.communicate()[1]
        yield BrokerProcess(process, line.removeprefix("listening on ").strip())
    finally:
        process.kill()
        process.communicate()


@contextmanager
def python_process(program: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python program in its own process, beside the project's packages."""
    process = _python(textwrap.dedent(program), *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _python(
    program: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=None if environment is None else {**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
