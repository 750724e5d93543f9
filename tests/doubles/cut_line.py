"""A line between clients and a broker that can be cut, and recorded; it knows nothing of what is said over it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self, final


@final
class CutLine:
    """Passes all bytes on, both ways, until it is cut; whoever connects afterwards is served again. A context."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        self._there = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._all: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self.address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self.said = b""
        self._threads[0].start()

    def connect(self) -> socket.socket:
        """A connection to the broker itself."""
        return socket.create_connection(self._there)

    def cut(self) -> None:
        """All connections end at once, as if a cable had been pulled and put back."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def wait(self) -> None:
        """Until the first connection has ended by itself."""
        for thread in self._threads[1:3]:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                self._all.append(client)
                there = self.connect()
            except OSError:
                return
            self._all.append(there)
            self._ends += [client, there]
            for source, target, keep in ((client, there, True), (there, client, False)):
                thread = threading.Thread(target=self._pass_on, args=(source, target, keep))
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, keep: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if keep:
                    self.said += data
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(10)
        for end in self._all:
            end.close()
