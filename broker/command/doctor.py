"""`foretell doctor`: checks this machine, this installation and a configuration for problems of a broker.

A check changes nothing. `bad` is a finding that keeps a broker from working or from being safe, `note` one that an
operator should know.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, final

import typer

from ..events import ForetellError
from .complaint import escaped, of_file
from .results import json_line

if TYPE_CHECKING:
    from ..server import ServerConfiguration

Verdict: TypeAlias = Literal["ok", "note", "bad"]

LIBZMQ_MINIMUM: Final = (4, 3, 5)
"""Before 4.3.3 a peer could end or take over a process before it had shown any key (GLSA 202009-12, 201908-17)."""
MSGPACK_MINIMUM: Final = (1, 2, 1)
"""The same as in pyproject.toml. In older versions a decoder that had failed once could crash at the next frame."""
CONSOLE_PACKAGES: Final = ("starlette", "uvicorn", "prometheus-client")
FILES_SPARE: Final = 200
READ_ONLY: Final = ("/etc", "/usr", "/boot")
"""Where a service of systemd cannot write, as the unit of the examples is set."""
CLOCK_YEAR_MINIMUM: Final = 2025


@final
@dataclass(frozen=True, slots=True)
class Trouble:
    """The finding of one check."""

    check: str
    verdict: Verdict
    found: str


def doctor(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="The broker's settings (TOML).")] = None,
    broker: Annotated[
        str | None, typer.Option(metavar="URL", help="A running broker to check as well.", envvar="FORETELL_BROKER")
    ] = None,
) -> int:
    """Check this machine for problems of a broker: a line for each check; status 1 if one is bad."""
    worst = 0
    for finding in findings(config, broker):
        worst = max(worst, finding.verdict == "bad")
        if sys.stdout.isatty():
            print(f"{finding.verdict:5}{finding.check}: {escaped(finding.found)}")
        else:
            sys.stdout.write(json_line({"check": finding.check, "verdict": finding.verdict, "found": finding.found}))
    return worst


def findings(config: Path | None, broker: str | None) -> Iterator[Trouble]:
    """Yield the findings of all checks, in the order in which a broker would meet the problems."""
    for machine in (_libzmq, _msgpack, _engine, _clock):
        yield _found(machine.__name__, machine)
    try:
        configuration = _configured(config)
    except ForetellError as error:
        yield Trouble("configuration", "bad", str(error))
    except OSError as error:
        yield Trouble("configuration", "bad", of_file(error))
    else:
        for check in CONFIGURED:
            yield _found(check.__name__, partial(check, configuration))
    if broker is not None:
        yield _found(_running.__name__, partial(_running, broker))


def _found(name: str, check: Callable[[], Trouble]) -> Trouble:
    """The finding of a check; one that fails is itself a finding, and the others go on."""
    try:
        return check()
    except ForetellError as error:
        reason = str(error)
    except OSError as error:
        reason = of_file(error)
    except Exception as error:  # a library that is damaged or of another version may raise anything
        reason = f"the check itself has failed: {type(error).__name__}: {error}"
    return Trouble(name.strip("_").replace("_", " "), "bad", reason)


def _libzmq() -> Trouble:
    import zmq

    found = f"libzmq {zmq.zmq_version()}, pyzmq {zmq.__version__}"
    if zmq.zmq_version_info() < LIBZMQ_MINIMUM:
        return Trouble("libzmq", "bad", f"{found}: expected at least {_dotted(LIBZMQ_MINIMUM)}")
    if not zmq.has("curve"):
        return Trouble("libzmq", "note", f"{found}, built without CURVE: there can be no keys")
    return Trouble("libzmq", "ok", f"{found}, with CURVE")


def _msgpack() -> Trouble:
    import msgpack

    enough = tuple(msgpack.version[:3]) >= MSGPACK_MINIMUM
    found = f"msgpack {_dotted(msgpack.version)}"
    return Trouble(
        "msgpack", "ok" if enough else "bad", found if enough else f"{found}: expected {_dotted(MSGPACK_MINIMUM)}"
    )


def _engine() -> Trouble:
    from ..build import build

    how = build()
    return Trouble("engine", "ok" if how == "compiled" else "note", how if how == "compiled" else f"{how}: slower")


def _clock() -> Trouble:
    year = time.gmtime().tm_year
    return Trouble(
        "clock", "ok" if year >= CLOCK_YEAR_MINIMUM else "bad", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    )


def _configured(config: Path | None) -> ServerConfiguration:
    from .serve import configured

    return configured(config, None, None, False)


def _content(configuration: ServerConfiguration) -> Trouble:
    from ..server import check

    try:
        return Trouble("configuration", "ok", check(configuration))
    except ForetellError as error:
        return Trouble("configuration", "bad", str(error))


def _journal(configuration: ServerConfiguration) -> Trouble:
    from ..server.opening import check_room

    journal = configuration.journal
    if journal is None:
        return Trouble("journal", "note", "not configured: a restart forgets everything")
    check_room(journal)
    path = journal.path.absolute()
    free = shutil.disk_usage(path if path.exists() else path.parent).free
    said = f"{path}: {free / 1_000_000_000:,.1f} GB free"
    read_only = next((each for each in READ_ONLY if path.is_relative_to(each)), None)
    if read_only is not None:
        return Trouble("journal", "note", f"{said}; {read_only} is read-only under ProtectSystem=strict")
    if free < journal.durability.segment_bytes:
        return Trouble("journal", "note", f"{said}: less than one segment")
    return Trouble("journal", "ok", said)


def _exposure(configuration: ServerConfiguration) -> Trouble:
    if configuration.exposed:
        return Trouble("exposure", "bad", "everybody on the network may read and change everything")
    if configuration.keys is None:
        return Trouble("exposure", "note", "every program of this machine may read and change everything: no keys")
    return Trouble("exposure", "ok", "only clients with keys, encrypted")


def _files(configuration: ServerConfiguration) -> Trouble:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = configuration.limits.sessions + FILES_SPARE
    if soft < needed:
        return Trouble(
            "open files",
            "bad",
            f"at most {soft:,}, expected {needed:,} for limits.sessions: see ulimit -n, LimitNOFILE",
        )
    return Trouble("open files", "ok", f"at most {soft:,}")


def _port(configuration: ServerConfiguration) -> Trouble:
    import zmq

    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.linger = 0
        socket.ipv6 = "[" in configuration.address
        try:
            socket.bind(configuration.address)
        except zmq.ZMQError as error:
            taken = error.errno == zmq.EADDRINUSE
            found = "in use: by a broker that runs already?" if taken else str(error.strerror)
            return Trouble("address", "note" if taken else "bad", f"{configuration.address}: {found}")
    return Trouble("address", "ok", f"{configuration.address} is free")


def _console(configuration: ServerConfiguration) -> Trouble:
    missing = [name for name in CONSOLE_PACKAGES if not _installed(name)]
    if configuration.console is None:
        return Trouble("console", "note", "not configured: no metrics and no health")
    if missing:
        return Trouble("console", "bad", f"expected foretell[console], missing: {', '.join(missing)}")
    return Trouble("console", "ok", configuration.console)


CONFIGURED: Final[tuple[Callable[[ServerConfiguration], Trouble], ...]] = (
    _content, _journal, _exposure, _files, _port, _console,
)  # fmt: skip
"""The checks of what a configuration asks for."""


def _running(address: str) -> Trouble:
    from .connection import connect

    try:
        with connect(address) as client:
            client.ping()
            began = time.perf_counter()
            client.ping()
            took = time.perf_counter() - began
            held = client.statistics()["engine"].get("held_back", ())
    except ForetellError as error:
        return Trouble("broker", "bad", str(error))
    if held:
        return Trouble("broker", "note", f"{address}: {'; '.join(held)}")
    return Trouble("broker", "ok", f"{address} answers within {took * 1_000:.1f} ms")


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
