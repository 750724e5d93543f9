"""Runs a broker as a process: an engine with its configuration, signals, and messages for the operator."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from ..collector import collect_rarely
from ..engine import Engine
from ..events import DefinitionError
from ..forecast.model_file import load_model, write_model
from ..kernel import Access, Admission, Limits, Sources, flows, states, wires
from ..storage.files import check_writable
from ..wire.keys import read_keys
from .allocation import give_large_blocks_back
from .audit_log import AuditLog, AuditSettings, open_audit
from .configuration import ServerConfiguration
from .durability_gate import DurabilityGate
from .logs import open_log, say
from .loop import Broker, MakeGate, wall_clock
from .opening import Journalling, check_room, examined
from .output_gate import OutputGate
from .replicated_state import ReplicatedState
from .saving import saving
from .security.exposure import check_writers
from .tracing import open_traces

if TYPE_CHECKING:
    from ..console.playground_pages import MakePlayground
    from .console import Serving

Reread = Callable[[], ServerConfiguration]

_RELOADED = ("limits", "user_keys", "quota", "log_level", "log_format")
"""The settings that SIGHUP changes; the others need a restart."""
_WRITTEN: Final = {"keys": "security.keys", "insecure": "security.insecure", "console": "console.address"} | {
    each.name: each.name.replace("_", ".", 1)
    for each in fields(ServerConfiguration)
    if each.name.startswith("console_")
}
"""How the file calls settings, where it has other names for them."""


def serve(
    configuration: ServerConfiguration,
    announce: Callable[[str], None],
    reread: Reread | None = None,
    playground: MakePlayground | None = None,
) -> None:
    """Run a broker until SIGTERM or SIGINT; `announce` gets lines for the operator, first `listening on ADDRESS`.


    `reread` returns the new configuration on SIGHUP; `playground` makes that of the console. Raises ForetellErrors for
    a configuration that cannot be served, such as a port in use or a wrong subscription file; StorageErrors for a
    journal that is damaged or cannot be written any more. Outside the main thread there are no signals, and it runs
    until the process ends.
    """
    give_large_blocks_back()
    collect_rarely()
    open_log(configuration.log_level, configuration.log_format)
    declared = engine_of(configuration)
    access = configuration.access()
    keys = None if configuration.keys is None else read_keys(configuration.keys)
    engine, sources, make_gate, recovered = declared, None, None, ""
    if configuration.journal is not None:
        state, make_gate, recovered = _recovered(configuration, configuration.journal, declared)
        engine, sources = state.engine, state.sources
    audit_log = None if configuration.audit is None else _audit_log(configuration.audit)
    traced = configuration.traces
    traces = None if traced is None else open_traces(traced, configuration.journal is not None)
    reload = None if reread is None else _reloading(configuration, reread)
    with ExitStack() as ends:
        serving = ends.enter_context(_console(configuration, playground))
        broker = Broker(
            engine,
            configuration.address,
            configuration.limits,
            admission_of(configuration, engine, access, sources),
            keys,
            access,
            configuration.drain / 1_000_000,
            reload,
            make_gate,
            tuple(declared.subscriptions),
            configuration.io_threads,
            tuple(declared.streams),
            audit_log,
            traces,
        )
        ends.enter_context(broker)
        ends.enter_context(_signals_to(broker))
        gc.collect()
        gc.freeze()  # loaded modules stay, so that full collections need not visit them
        if configuration.exposed:
            say(logging.WARNING, "everybody on the network may read and change everything", address=broker.endpoint)
        numbers = ends.enter_context(serving(broker))
        announce(f"listening on {broker.endpoint}")
        if numbers:
            announce(f"numbers at {numbers}/metrics")
        if recovered:
            announce(recovered)
        broker.run()
    if audit_log is not None:
        audit_log.close()
    if traces is not None:
        traces.close()
    announce("stopped")


def check(configuration: ServerConfiguration) -> str:
    """Check all of a configuration except the ports and what the journal has; one line that describes its broker.

    It writes for a moment where the broker would. Raises ForetellErrors as `serve` does.
    """
    engine = engine_of(configuration)
    if configuration.journal is not None:
        check_room(configuration.journal)
    if configuration.audit is not None:
        check_audit(configuration.audit.path)
    if configuration.keys is not None:
        read_keys(configuration.keys)
    if configuration.console is not None:
        with _console(replace(configuration, console=f"{configuration.console.rpartition(':')[0]}:0"), None):
            pass
    users = len({user.name for user in configuration.user_keys.values()})
    who = "everybody who reaches it" if configuration.keys is None else f"{users} users with keys"
    kept = "" if configuration.journal is None else f", {_shown(configuration.journal)}"
    what = f"{len(engine.streams)} streams, {len(engine.subscriptions)} subscriptions"
    return f"{configuration.address} for {who}, {what}{kept}"


def engine_of(configuration: ServerConfiguration) -> Engine:
    """An engine with the configured streams, subscriptions and model. Raises ForetellErrors."""
    for each in (configuration.subscriptions, configuration.model):
        if each is not None:
            check_writers(each)
    path = configuration.subscriptions
    try:
        engine = Engine() if path is None else Engine.load(path)
        path = configuration.model
        if path is not None:
            engine.load_model(load_model(path))
        return engine
    except OSError as error:
        raise DefinitionError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DefinitionError(f"{path}: expected UTF-8 text") from None


def _audit_log(settings: AuditSettings) -> AuditLog:
    try:
        return AuditLog(settings)
    except OSError as error:
        raise DefinitionError(f"audit.path: {settings.path}: {error.strerror or error}") from None


def check_audit(path: Path) -> None:
    """Check that the audit can be written there. Raises DefinitionError."""
    try:
        if path.exists():
            os.close(open_audit(path)[0])
        else:
            path.absolute().parent.stat()  # it is not created
            check_writable(path.absolute().parent, 1)
    except OSError as error:
        raise DefinitionError(f"audit.path: {path}: {error.strerror or error}") from None


def _recovered(
    configuration: ServerConfiguration, journal: Journalling, declared: Engine
) -> tuple[ReplicatedState, MakeGate, str]:
    """The recovered state, a maker of its gate, and a line for the operator. Raises StorageErrors, DefinitionError."""
    model = None if configuration.model is None else write_model(load_model(configuration.model))
    start = examined(journal, declared, model, wall_clock())
    *remarks, result = start.recovery.lines()
    for remark in remarks:
        say(logging.WARNING, "recovery", remark=remark)

    def make_gate(notify: Callable[[], None]) -> OutputGate:
        start.begin()  # the broker listens, so that nothing else refuses its start
        way = saving(journal.checkpoint)
        durability, most = journal.durability.label(), journal.checkpoint_bytes
        return DurabilityGate(start.store, start.state, durability, most, notify, saving=way)

    return start.state, make_gate, f"{_shown(journal)}: {result}"


def _shown(journal: Journalling) -> str:
    return f"journal in {journal.path}, fsync {journal.durability.label()}"


def admission_of(
    configuration: ServerConfiguration, engine: Engine, access: Access, sources: Sources | None = None
) -> Admission:
    """The admission for this engine. Without keys all clients may do everything, and no query is analysed for that.

    `sources`: with a journal, the recovered sources of subscriptions.
    """
    if configuration.keys is None:
        return Admission(access, None, states(engine), sources)
    if sources is None:
        sources = Sources(wires(engine), engine.subscriptions)
    return Admission(access, flows(engine), states(engine), sources)


def _console(
    configuration: ServerConfiguration, playground: MakePlayground | None
) -> AbstractContextManager[Serving]:
    """What listens for the console, if there is an address. Without one its packages are not loaded."""
    if configuration.console is None:
        return nullcontext(lambda broker: nullcontext(""))
    from .console import ConsoleSettings, console

    pages = ConsoleSettings(
        configuration.console_tokens,
        configuration.keys is None,
        configuration.console_certificate,
        configuration.console_key,
        configuration.console_proxy,
        playground,
        None if configuration.journal is None else configuration.journal.path,
        configuration.console_writes,
    )
    return console(configuration.console, pages)


def _reloading(started: ServerConfiguration, reread: Reread) -> Callable[[], tuple[Limits, Access]]:
    def reload() -> tuple[Limits, Access]:
        new = reread()
        if (new.keys is None) != (started.keys is None):
            raise DefinitionError("security.keys: expected the setting of the start; a change needs a restart")
        open_log(new.log_level, new.log_format)
        kept = [each.name for each in fields(started) if each.name not in _RELOADED]
        restart = [_WRITTEN.get(name, name) for name in kept if getattr(started, name) != getattr(new, name)]
        if restart:
            say(logging.WARNING, "changed settings that need a restart", settings=", ".join(restart))
        return new.limits, new.access()

    return reload


@contextmanager
def _signals_to(broker: Broker) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    # With a handler Python writes the signal's number into the wakeup's socket; that byte is the request.
    def note(number: int, frame: FrameType | None) -> None:
        pass

    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(number, note) for number in signals]
    earlier = signal.set_wakeup_fd(broker.wakeup.writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        for number, handler in zip(signals, before):
            signal.signal(number, handler)
