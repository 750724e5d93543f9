"""What the blocks of a Markdown page are, and how a page is played through; which pages there are is the test's.

A fenced block says by its info string what it is:

    toml subscriptions   a subscription file, in force until the next one
    toml streams         the streams of the queries that follow
    cel                  a query over these streams, in force as subscription `q`, with lineage
    ptopss               the same in that language; `ptopss completions` reports only these
    window, afa          the same in that language
    json events          JSON lines, in force until the next ones
    json results         what `foretell run` makes of both, every line; kind, subscription, id and bindings may be
                         left out
    text complaint       what `foretell run` says instead, with exit status 2
    python               runs in one namespace a page; `text output` is what has been printed since the last one
    console              commands after `$`, in a directory a page, each with its output; `&` leaves one
                         running, and `wait %N` awaits it
    LANGUAGE file=NAME   a file in that directory

In outputs a line `...` stands for any lines. Brokers do not get the ports that the pages show, 5570 to 5579, but free
ones: the numbers are replaced, and where there is none, `foretell serve` is told by an option and others by the
environment.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Final, final

import zmq
from doubles.nothing_wrong import NOTHING_WRONG

from broker.command.shell import perform
from client import Client

ROOT: Final = Path(__file__).parents[2]
SECONDS_MAX: Final = 60.0
EXAMPLE_SECONDS_MAX: Final = 300.0  # one takes a minute on a quiet machine, interpreted
PORT: Final = "5570"

_FENCE: Final = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_PORT: Final = re.compile(r"\b557[0-9]\b")
_COMMAND: Final = re.compile(r"^\$ (.*)$", re.MULTILINE)
_SUBSCRIPTION: Final = (
    "\n[subscriptions.q]\nlanguage = \"{language}\"\nlineage = true\n{report}query = '''\n{query}'''\n"
)
_REPORT: Final = 'report = "{report}"\n'


@final
@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its info string, its text and the 1-based line of its fence."""

    info: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order. A fence without an info string is an error."""
    text = page.read_text(encoding="utf-8")
    end = 0
    for match in _FENCE.finditer(text):
        assert "```" not in text[end : match.start()], f"{page.name}: a block without an info string"
        end = match.end()
        yield Block(match["info"].strip(), match["text"], text.count("\n", 0, match.start()) + 1)
    assert "```" not in text[end:], f"{page.name}: a block without an info string"


@contextlib.contextmanager
def _ends_in_time() -> Iterator[None]:
    """Raise TimeoutError in what takes too long, again and again: a client that is left in the middle of an example
    waits once more when it is collected."""

    def late(*_: object) -> None:
        raise TimeoutError(f"an example takes longer than {EXAMPLE_SECONDS_MAX} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, EXAMPLE_SECONDS_MAX, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@final
class Player:
    """Plays the blocks of one page. A context: what was left running is stopped at the end, and must stop well."""

    def __init__(self, page: Path, folder: Path, here: tuple[str, ...] = ()) -> None:
        """`here`: the beginnings of commands of `foretell` that are performed in this process."""
        self._page = page
        self._here = here
        self._folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        self._streams = ""
        self._printed = io.StringIO()
        self._namespace: dict[str, Any] = {"__name__": page.stem}
        self._ports: dict[str, str] = {}
        self._running: list[tuple[str, subprocess.Popen[str], Path]] = []
        self._shown: list[str] = []

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *problem: object) -> None:
        for value in self._namespace.values():
            if isinstance(value, zmq.Context):  # what an example that failed could not send would keep it for ever
                value.destroy(linger=0)
        for _, process, _ in reversed(self._running):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(SECONDS_MAX)
            finally:
                process.kill()
        if problem[0] is None:
            for command, process, errors in self._running:
                assert process.returncode == 0, f"{command}: exit status {process.returncode}; {errors.read_text()}"

    def play(self, block: Block) -> bool:
        """Plays one block; False if it is of no kind that can be played. Raises AssertionError with what came out."""
        with contextlib.chdir(self._folder):
            match block.info.split():
                case ["toml", "subscriptions"]:
                    Path("subscriptions.toml").write_text(block.text)
                case ["toml", "streams"]:
                    self._streams = block.text
                case ["cel"]:
                    self._subscribe("cayuga", "", block.text)
                case ["ptopss"]:
                    self._subscribe("ptopss", "", block.text)
                case ["window" | "afa" as language]:
                    self._subscribe(language, "", block.text)
                case ["ptopss", "completions" as report]:
                    self._subscribe("ptopss", _REPORT.format(report=report), block.text)
                case ["json", "events"]:
                    Path("events.jsonl").write_text(block.text)
                case ["json", "results"]:
                    self._compare_results(block)
                case ["text", "complaint"]:
                    status, _, errors = _run()
                    self._compare(block, errors.replace("foretell: ", "", 1), block.text)
                    assert status == 2
                case ["python"]:
                    self._execute(block)
                case ["text", "output"]:
                    printed = self._printed.getvalue()
                    self._printed.seek(0)
                    self._printed.truncate()
                    self._compare(block, printed, block.text)
                case ["console"]:
                    self._console(block)
                case [_, named] if named.startswith("file="):
                    Path(named.removeprefix("file=")).write_text(self._real(block.text))
                case _:
                    return False
        return True

    def _subscribe(self, language: str, report: str, query: str) -> None:
        text = _SUBSCRIPTION.format(language=language, report=report, query=query)
        Path("subscriptions.toml").write_text(self._streams + text)

    def _compare_results(self, block: Block) -> None:
        status, output, errors = _run()
        assert (status, errors) == (0, ""), self._place(block)
        expected = [json.loads(line) for line in block.text.splitlines()]
        found = [json.loads(line) for line in output.splitlines()]
        for want, result in zip(expected, found):
            for key in ("kind", "subscription", "id", "bindings"):
                if key not in want:
                    result.pop(key, None)
        shown = "\n".join(map(json.dumps, found))
        assert found == expected, f"{self._place(block)}: found\n{shown}"
        assert [list(each.get("data", ())) for each in found] == [list(each.get("data", ())) for each in expected], (
            shown
        )

    def _execute(self, block: Block) -> None:
        # The line numbers of a traceback are those of the page.
        code: CodeType = compile("\n" * block.line + self._real(block.text), str(self._page), "exec")
        with contextlib.redirect_stdout(self._printed), _ends_in_time():
            exec(code, self._namespace)

    def _console(self, block: Block) -> None:
        starts = list(_COMMAND.finditer(block.text))
        assert starts, self._place(block)
        assert starts[0].start() == 0, self._place(block)
        ends = [start.start() for start in starts[1:]] + [len(block.text)]
        for start, end in zip(starts, ends):
            expected = block.text[start.end() + 1 : end]
            command = self._real(start[1])
            if command.startswith("foretell serve") and "--address" not in command:
                command = command.replace("serve", f"serve --address {self._broker}")
            if command.endswith("&"):
                found = self._leave_running(command.removesuffix("&"), expected)
            elif command.startswith("wait %"):
                found = self._wait(int(command.removeprefix("wait %")))
            else:
                found = self._command(command)
            self._compare(block, found, self._real(expected))

    def _command(self, command: str) -> str:
        if self._here and command.startswith(self._here):
            return _perform(shlex.split(command)[1:])
        done = subprocess.run(
            ["bash", "-c", command],
            check=False,  # the page shows what it says
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=2 * SECONDS_MAX,
            env=self._environment(),
        )
        return _without(done.stdout)

    def _leave_running(self, command: str, expected: str) -> str:
        """Starts a process, and waits for as much output as the page shows."""
        output = self._folder / f"output-{len(self._running)}"
        with output.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], stdout=file, stderr=file, text=True, env=self._environment()
            )
        self._running.append((command, process, output))
        self._shown.append(expected)
        deadline = time.monotonic() + SECONDS_MAX
        if command.startswith("foretell subscribe"):
            # Whoever types takes longer than this until something is published.
            self._await_subscribers(deadline)
        while output.read_text().count("\n") < expected.count("\n") and time.monotonic() < deadline:
            time.sleep(0.02)
        return output.read_text()

    def _await_subscribers(self, deadline: float) -> None:
        """Comes back when every subscriber that was started on this page has reached the broker."""
        started = sum(command.startswith("foretell subscribe") for command, _, _ in self._running)
        with Client(self._broker) as client:
            while client.statistics()["broker"]["attachments"] < started and time.monotonic() < deadline:
                time.sleep(0.02)

    def _wait(self, job: int) -> str:
        """What a process that was left running has printed since it was started, once it has ended."""
        command, process, output = self._running[job - 1]
        assert process.wait(SECONDS_MAX) == 0, f"{command}: {output.read_text()}"
        return output.read_text().removeprefix(self._shown[job - 1])

    def _compare(self, block: Block, found: str, expected: str) -> None:
        pattern = "".join(
            "(.*\n)*" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True)
        )
        assert re.fullmatch(pattern, found), f"{self._place(block)}: expected\n{expected}\nfound\n{found}"

    def _environment(self) -> dict[str, str]:
        """`foretell` and `python` are those of this interpreter, and the repository can be imported."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        found = {"PATH": path, "PYTHONUNBUFFERED": "1", "FORETELL_BROKER": self._broker}
        return {**os.environ, **found}

    @property
    def _broker(self) -> str:
        return self._real(f"tcp://127.0.0.1:{PORT}")

    def _real(self, text: str) -> str:
        """The text with free ports instead of those that the page shows."""
        return _PORT.sub(lambda port: self._ports.setdefault(port[0], free_port()), text)

    def _place(self, block: Block) -> str:
        return f"{self._page.relative_to(ROOT)}, line {block.line}"


def _run() -> tuple[int, str, str]:
    """`foretell run` in this process: exit status, output and errors."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = perform(["run", "subscriptions.toml", "--events", "events.jsonl"])
    return status, output.getvalue(), _without(errors.getvalue())


def _perform(arguments: list[str]) -> str:
    """A command in this process: output and errors together."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        perform(arguments)
    return _without(printed.getvalue())


def _without(said: str) -> str:
    """Pages show what a compiled engine says."""
    return said.replace(NOTHING_WRONG, "")


def free_port() -> str:
    """A port of the loopback that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
