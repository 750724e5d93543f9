"""Serves an application over HTTP: a socket that listens, and uvicorn on it.

Not here: what is served, and how many connections there may be (server.console, command.playground).
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ..events.errors import DefinitionError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

LOOPBACK: Final = "127.0.0.1"


def settings(app: ASGIApp, **more: Any) -> uvicorn.Config:
    """How uvicorn serves here: without logs of requests, sockets of its own, or a name of the server.

    A request that is none is no line in a log either: whoever sends many of them could fill it.
    """
    import uvicorn

    return uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,
        **more,
    )


def listening(host: str, port: int, called: str) -> socket.socket:
    """A socket that listens. Raises DefinitionError, which calls the address as its user does."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise DefinitionError(f"{called}: {error.strerror or error}") from None


def serve_here(app: ASGIApp, port: int, announce: Callable[[str], None]) -> None:
    """Serve this machine until SIGINT or SIGTERM, in the main thread; `announce` gets the address.

    Raises DefinitionError for the port.
    """
    import uvicorn

    server = uvicorn.Server(settings(app))

    def end(number: int, frame: object) -> None:
        server.should_exit = True

    signal.signal(signal.SIGTERM, end)  # before uvicorn listens to it; and uvicorn raises it again when it has ended
    with listening(LOOPBACK, port, f"--port {port}") as listener:
        announce(f"http://{LOOPBACK}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])
