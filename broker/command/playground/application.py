"""The pages of the playground, and its answers to them: a page asks by POST, a worker answers.

/                  the page
/session           the token, the examples, and what the command line named
/examples/{name}   the text of an example, and its events
/upload?name=      takes a file of events
/ask/{question}    see `answering`
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ... import __version__
from ...console.files import PageFiles
from ...console.guard import PageGuard, asked, new_token, refused
from ...events.names import checked_name
from .examples import EXAMPLES, example_file, example_text
from .trial import EVENTS_MAX, Chosen
from .worker import PlaygroundProcess

UPLOAD_BYTES_MAX: Final = 32 * 2**20
"""Bytes of a file of events that a page sends."""
UPLOADS_MAX: Final = 16
"""So many of them are kept; then the oldest goes."""
TEXT_MAX: Final = 200_000
"""Characters of a subscription file in the editor."""
HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")

_QUESTIONS: Final[Mapping[str, dict[str, type]]] = {
    "run": {},
    "why": {"subscription": str, "match": str},
    "why-not": {"subscription": str, "row": int, "wanted": list, "until": int},
    "events": {"row": int, "begin": int},
    "diagram": {"subscription": str},
    "first": {},
    "format": {},
    "complete": {"line": int, "column": int},
}
_REQUIRED: Final = {"subscription", "match", "line", "column"}


@final
@dataclass(frozen=True, slots=True)
class Opening:
    """What the page shows first. `events`: a file; `title`: how the page calls it."""

    text: str | None = None
    events: str | None = None
    stream: str | None = None
    time: str | None = None


@final
class Playground:
    """The files that may be read, by the names that the page uses for them, and the worker."""

    def __init__(self, opening: Opening, folder: Path) -> None:
        self.opening = opening
        self.worker = PlaygroundProcess()
        self.token = new_token()
        self._folder = folder
        self._files: dict[str, tuple[str, str]] = {}
        self._uploads: list[str] = []
        self._count = 0
        threading.Thread(target=self.worker.start, daemon=True).start()
        if opening.events is not None:
            self._files["given"] = opening.events, opening.events
        for each in EXAMPLES:
            self._files[f"example {each.name}"] = str(example_file(each.events)), each.events

    def session(self) -> dict[str, Any]:
        """What the page needs to begin."""
        given = {k: v for k, v in asdict(self.opening).items() if k != "events"}
        return {
            "token": self.token,
            "version": __version__,
            "events_max": EVENTS_MAX,
            "examples": [{"name": each.name, "title": each.title()} for each in EXAMPLES],
            "given": {**given, "events": "given" if self.opening.events else None, "file": self.opening.events},
        }

    def example(self, name: str) -> dict[str, Any]:
        """An example. Raises HTTPException: 404."""
        found = next((each for each in EXAMPLES if each.name == name), None)
        if found is None:
            raise HTTPException(404, "not here")
        text = example_text(found.name)
        events = f"example {name}"
        return {"text": text, "events": events, "file": found.events, "stream": found.stream, "time": found.time}

    def uploaded(self, name: str, content: bytes) -> dict[str, Any]:
        """Keep a file of events, under a name of ours that has its suffixes."""
        plain = Path(name.replace("\\", "/")).name[-100:]
        suffixes = "".join(each for each in Path(plain).suffixes[-2:] if each[1:].isalnum() and each.isascii())
        self._count += 1
        known = f"upload {self._count}"
        file = self._folder / f"events-{self._count}{suffixes.lower()}"
        file.write_bytes(content)
        self._files[known] = str(file), plain
        self._uploads.append(known)
        if len(self._uploads) > UPLOADS_MAX:
            gone, _ = self._files.pop(self._uploads.pop(0))
            Path(gone).unlink()
        return {"events": known, "file": plain}

    def ask(self, question: str, body: dict[str, Any]) -> dict[str, Any]:
        """An answer of the worker. Raises HTTPException."""
        fields = _QUESTIONS[question]
        missing = [name for name in fields if name in _REQUIRED and body.get(name) is None]
        if missing:
            raise HTTPException(400, f"expected {missing[0]}")
        if not all(type(each) is int for each in body.get("wanted") or ()):
            raise HTTPException(400, "wanted: expected numbers")
        chosen = self._chosen(body)
        asked = {name: body.get(name) for name in fields}
        return self.worker.ask({**asked, "do": question, "chosen": asdict(chosen)})

    def _chosen(self, body: dict[str, Any]) -> Chosen:
        text = body.get("text") or ""
        if len(text) > TEXT_MAX:
            raise HTTPException(413, f"expected at most {TEXT_MAX:,} characters of subscriptions")
        named = body.get("file")
        if named is not None and named not in self._files:
            raise HTTPException(404, "expected events that are still here; open the file again")
        file, called = self._files[named] if named is not None else (None, None)
        stream = body.get("stream") or None
        if stream is not None:
            checked_name(stream, "stream")
        return Chosen(text, file, stream, body.get("time") or None, called)


def application(playground: Playground) -> Starlette:
    """The application."""
    pages = PageFiles(["broker.console"])

    async def session(request: Request) -> Response:
        return JSONResponse(playground.session())

    async def example(request: Request) -> Response:
        return JSONResponse(playground.example(request.path_params["name"]))

    async def upload(request: Request) -> Response:
        name = request.query_params.get("name", "events.jsonl")
        return JSONResponse(playground.uploaded(name, await request.body()))

    async def ask(request: Request) -> Response:
        question = request.path_params["question"]
        if question not in _QUESTIONS:
            raise HTTPException(404, "not here")
        fields = {"text": str, "file": str, "stream": str, "time": str, **_QUESTIONS[question]}
        body = await asked(request, fields)
        return JSONResponse(await run_in_threadpool(playground.ask, question, body))

    return Starlette(
        routes=[
            *pages.routes({"/": "playground.html"}),
            Route("/session", session),
            Route("/examples/{name}", example),
            Route("/upload", upload, methods=["POST"]),
            Route("/ask/{question}", ask, methods=["POST"]),
        ],
        middleware=[Middleware(PageGuard, token=playground.token, hosts=HOSTS, body_max=UPLOAD_BYTES_MAX)],
        exception_handlers={HTTPException: refused},
    )


def folder() -> tempfile.TemporaryDirectory[str]:
    """Where uploads are kept while the playground runs."""
    return tempfile.TemporaryDirectory(prefix="foretell-playground-")
