"""Serves metrics and health over HTTP. Nothing can be changed here.

    /metrics   the statistics; 503 if the loop does not answer
    /livez     200 unless a pass of the loop takes longer than ALIVE_SECONDS_MAX
    /readyz    200 while the broker accepts new requests; 503 once it is stopping

It runs in its own thread and asks the loop, which answers between two passes. It needs the extra `foretell[console]`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from ..console.serving import listening, settings
from ..events import DefinitionError
from .loop import Broker
from .security.exposure import host_and_port, is_loopback

if TYPE_CHECKING:
    from starlette.applications import Starlette

PATIENCE_SECONDS: Final = 5.0
"""How long a request waits for the loop."""
ALIVE_SECONDS_MAX: Final = 60.0
"""How long one pass of the loop may take. Clients have the same limit."""
_JOIN_SECONDS: Final = 5.0


@contextmanager
def console(broker: Broker, address: str) -> Iterator[str]:
    """Serve beside the broker until the block ends; the address with its port.


    Raises DefinitionError if the address cannot be used, or the extra is missing.
    """
    try:
        import uvicorn

        from .console_connections import CONNECTIONS_MAX, Connection
    except ImportError:
        raise DefinitionError(
            "console.address: expected the packages of foretell[console], which are missing"
        ) from None
    host, port = host_and_port(address, "console.address", "http", "http://127.0.0.1:5580")
    with listening(host, port, f"console.address {address}") as listener:
        configuration = settings(
            application(broker, is_loopback(host)),
            http=Connection,
            limit_concurrency=CONNECTIONS_MAX + 1,  # uvicorn counts the new connection, too
            timeout_keep_alive=0,
        )
        server = uvicorn.Server(configuration)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="console", daemon=True)
        thread.start()
        try:
            shown = f"[{host}]" if ":" in host else host
            yield f"http://{shown}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(_JOIN_SECONDS)


def application(broker: Broker, only_here: bool) -> Starlette:
    """The application; `only_here`: refuse requests for another host name, which a page in a browser might send."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    from .metrics import CONTENT_TYPE, exposition

    async def metrics(request: Request) -> Response:
        try:
            statistics = await run_in_threadpool(broker.report, PATIENCE_SECONDS)
        except TimeoutError:
            return PlainTextResponse("the broker is busy\n", 503)
        return Response(exposition(statistics), media_type=CONTENT_TYPE)

    async def live(request: Request) -> Response:
        idle = broker.idle_seconds
        return PlainTextResponse(f"{idle:.1f} s since the last pass\n", 200 if idle < ALIVE_SECONDS_MAX else 503)

    async def ready(request: Request) -> Response:
        if broker.stopping:
            return PlainTextResponse("stopping\n", 503)
        return PlainTextResponse("ready\n")

    hosts = ["127.0.0.1", "localhost", "[::1]"] if only_here else ["*"]
    return Starlette(
        routes=[Route("/metrics", metrics), Route("/livez", live), Route("/readyz", ready)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts)],
    )
