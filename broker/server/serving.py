"""Law: a broker as a process: an engine with what the configuration declares, signals, and words for the operator."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ..engine import Engine
from ..events import DefinitionError
from .configuration import ServerConfiguration
from .loop import Broker


def serve(configuration: ServerConfiguration, announce: Callable[[str], None]) -> None:
    """Run a broker until SIGTERM or SIGINT; `announce` gets lines for the operator, first `listening on ADDRESS`.

    Raises ForetellErrors for a configuration that cannot be served: a port in use, a wrong subscription file. Outside
    of the main thread there are no signals, and it runs until the process ends.
    """
    engine = _engine(configuration)
    with Broker(engine, configuration.address, configuration.limits) as broker, _stopped_by_signals(broker):
        gc.collect()
        gc.freeze()  # what was loaded stays: a full collection need not visit it again
        announce(f"listening on {broker.endpoint}")
        broker.run()
    announce("stopped")


def _engine(configuration: ServerConfiguration) -> Engine:
    path = configuration.subscriptions
    if path is None:
        return Engine()
    try:
        return Engine.load(path)
    except OSError as error:
        raise DefinitionError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DefinitionError(f"{path}: expected UTF-8 text") from None


@contextmanager
def _stopped_by_signals(broker: Broker) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    # The handler is what makes Python write the signal into the waker; the byte itself is the request.
    def note(number: int, frame: FrameType | None) -> None:
        pass

    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, note) for number in signals]
    waker = signal.set_wakeup_fd(broker.waker.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(waker)
        for number, handler in zip(signals, before):
            signal.signal(number, handler)
