"""Lets requests in, and says with each answer what a browser may do with it.

A browser runs and shows only what comes from here, sends nothing elsewhere, and puts no page of ours into another.
What changes or costs something is a POST with a token that only a page of the same origin can read, with a JSON body of
limited length. A request that is not understood gets one short line; an error of ours does, too, and is logged.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER: Final = "x-foretell-token"
"""A header that a page of another origin cannot set without asking first, which is refused."""

READING: Final = ("GET", "HEAD")

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


@final
class PageGuard:
    """Passes on requests for these hosts that only read, or that have the token; `body_max`: bytes of a body.

    `hosts`: the names under which a browser may know this server, without ports; another name is that of a page
    elsewhere which has had its own name point here. None: any. `larger`: paths that take larger bodies.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: Sequence[str] | None,
        body_max: int,
        larger: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._app = app
        self._token = token
        self._hosts = None if hosts is None else frozenset(hosts)
        self._body_max = body_max
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS:
                    headers.setdefault(name, value)
            try:
                await send(message)
            except Exception:  # what follows the head of this request was none: the connection is over
                raise ClientDisconnect from None

        try:
            await (self._refusal(scope) or self._app)(scope, receive, sent)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except asyncio.CancelledError:
            raise
        except Exception:
            logging.getLogger("foretell").exception("a page has failed: %r", scope["path"][:200])
            if not started:
                await problem(500, "the server failed; its log says why")(scope, receive, sent)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return problem(400, "expected the name of this server in Host")
        if scope["method"] in READING:
            return None
        if scope["method"] != "POST":
            return problem(405, "expected GET or POST")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return problem(403, "expected a page of this server")
        if not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return problem(403, "expected the token of this server; load the page again")
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            return problem(411, "expected Content-Length")
        most = self._larger.get(scope["path"], self._body_max)
        if int(length) > most:
            return problem(413, f"expected at most {most:,} bytes")
        return None


def _name(host: str) -> str:
    """A host without its port."""
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0].lower()


def problem(status: int, reason: str) -> Response:
    """An answer that refuses, with one line."""
    return JSONResponse({"error": reason}, status)


async def asked(request: Request, fields: dict[str, type]) -> dict[str, Any]:
    """The JSON object in a request's body, which has at most these fields. Raises HTTPException: 400, 415."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "expected application/json")
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "expected JSON") from None
    if not isinstance(found, dict):
        raise HTTPException(400, f"expected an object, found {type(found).__name__}")
    for name, value in found.items():
        kind = fields.get(name)
        if kind is None:
            raise HTTPException(400, f"expected one of {', '.join(fields)}, found another field")
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise HTTPException(400, f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return found


async def refused(request: Request, error: Exception) -> Response:
    """The answer to what was refused, for Starlette's table of handlers."""
    assert isinstance(error, HTTPException)
    return problem(error.status_code, error.detail)


def text(body: str, kind: str = "text/plain") -> Response:
    """A text."""
    return PlainTextResponse(body, media_type=kind)
