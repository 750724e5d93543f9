"""Serves metrics, health and the pages of the console over HTTP.

    /metrics   the statistics; 503 if the loop does not answer
    /livez     200 unless a pass of the loop takes longer than ALIVE_SECONDS_MAX
    /readyz    200 while the broker accepts new requests; 503 once it is stopping
    /          the pages, see `console_pages`

It runs in its own thread and asks the loop, which answers between two passes. It needs the extra `foretell[console]`.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from ..console.serving import listening, settings
from ..console.signing_in import SigningIn, read_tokens
from ..events import DefinitionError
from ..kernel.permissions import ANYBODY
from .loop import Broker
from .security.exposure import host_and_port, is_loopback

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ..console.playground_pages import MakePlayground, PlaygroundPages

PATIENCE_SECONDS: Final = 5.0
"""How long a request waits for the loop."""
ALIVE_SECONDS_MAX: Final = 60.0
"""How long one pass of the loop may take. Clients have the same limit."""
_JOIN_SECONDS: Final = 5.0
_BODY_MAX: Final = 10_000
Serving: TypeAlias = Callable[[Broker], AbstractContextManager[str]]
HERE: Final = ("127.0.0.1", "localhost", "[::1]")


@final
@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Who may see the pages. `tokens`: the file of them; `anybody`: without a token, from this machine.

    `certificate` and `key`: files for TLS; `proxy`: one stands before us and does that, so that others come to an
    address of this machine, too. For others there are no pages without one of these, and without tokens.
    `playground`: makes that of the pages; `journal`: the folder of the broker's journal, for it. `writes`: whether
    something may be changed by the pages.
    """

    tokens: Path | None = None
    anybody: bool = True
    certificate: Path | None = None
    key: Path | None = None
    proxy: bool = False
    playground: MakePlayground | None = None
    journal: Path | None = None
    writes: bool = False

    def signing(self, only_here: bool) -> SigningIn | None:
        """Who looks; None: there are no pages. Raises DefinitionError."""
        secure = self.certificate is not None or self.proxy
        if not only_here and not (secure and self.tokens is not None):
            return None
        tokens = {} if self.tokens is None else read_tokens(self.tokens)
        return SigningIn(tokens, ANYBODY if self.anybody and only_here and self.tokens is None else None)

    def secured(self) -> dict[str, Any]:
        """What uvicorn is told of TLS. Raises DefinitionError if the files are not those of a certificate."""
        if self.certificate is None:
            return {}
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
        except OSError as error:
            raise DefinitionError(f"console.certificate: expected PEM files: {error.strerror or error}") from None
        return {"ssl_certfile": str(self.certificate), "ssl_keyfile": None if self.key is None else str(self.key)}


@contextmanager
def console(address: str, pages: ConsoleSettings | None = None) -> Iterator[Serving]:
    """Listen until the block ends. What is yielded serves beside a broker, and tells the address with its port.

    All that can be refused is refused before there is a broker. Raises DefinitionError if the address cannot be used,
    or the extra is missing.
    """
    try:
        import uvicorn  # noqa: F401  # it is there

        from ..console.guard import new_token
    except ImportError:
        raise DefinitionError(
            "console.address: expected the packages of foretell[console], which are missing"
        ) from None
    host, port = host_and_port(address, "console.address", "http", "http://127.0.0.1:5580")
    pages = pages or ConsoleSettings()
    only_here, token = is_loopback(host) and not pages.proxy, new_token()
    signing, secured = pages.signing(only_here), pages.secured()
    made = nullcontext() if pages.playground is None or signing is None else pages.playground(token)
    with made as playground, listening(host, port, f"console.address {address}") as listener:
        shown = f"[{host}]" if ":" in host else host
        place = f"{'https' if secured else 'http'}://{shown}:{listener.getsockname()[1]}"

        @contextmanager
        def serving(broker: Broker) -> Iterator[str]:
            with _served(application(broker, only_here, pages, signing, token, playground), listener, secured):
                yield place

        yield serving


@contextmanager
def _served(served: Starlette, listener: socket.socket, secured: Mapping[str, Any]) -> Iterator[None]:
    """Serve in a thread until the block ends."""
    import uvicorn

    from .console_connections import CONNECTIONS_MAX, Connection

    configuration = settings(
        served,
        http=Connection,
        **secured,
        limit_concurrency=2 * CONNECTIONS_MAX,  # requests of connections that were closed just now count, too
        timeout_keep_alive=0,
    )
    server = uvicorn.Server(configuration)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="console", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(_JOIN_SECONDS)


def application(
    broker: Broker,
    only_here: bool,
    pages: ConsoleSettings,
    signing: SigningIn | None,
    token: str,
    playground: PlaygroundPages | None,
) -> Starlette:
    """The application; `only_here`: refuse requests for another host name, which a page in a browser might send.

    `signing` None: there are no pages; `token`: theirs.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    from ..console.guard import PageGuard, refused
    from .console_connections import HealthFirst
    from .console_pages import ConsolePages
    from .console_writing import BODY_BYTES_MAX
    from .metrics import CONTENT_TYPE, exposition

    secure = pages.certificate is not None or pages.proxy
    larger: dict[str, int] = {}

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

    routes = [Route("/metrics", metrics), Route("/livez", live), Route("/readyz", ready)]
    if signing is not None:
        answers = ConsolePages(broker, signing, token, secure, pages.writes, PATIENCE_SECONDS)
        routes += answers.routes(playground is not None)
        if playground is not None:
            from ..console.playground_pages import LARGER
            from .console_playground import ConsolePlayground

            larger |= LARGER
            routes += ConsolePlayground(playground, answers.ask, answers.name, pages.journal).routes()
    hosts, body_max = HERE if only_here else None, BODY_BYTES_MAX if pages.writes else _BODY_MAX
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(HealthFirst),
            Middleware(PageGuard, token=token, hosts=hosts, body_max=body_max, larger=larger),
        ],
        exception_handlers={HTTPException: refused},
    )
