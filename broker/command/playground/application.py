"""The pages of the playground, and its answers to them: a page asks by POST, a worker answers.

/                             the page; in a broker's console /playground
/playground/session           the token, the examples, and what the command line named
/playground/examples/{name}   the text of an example, and its events
/playground/upload?name=      takes a file of events
/playground/ask/{question}    see `answering`

Beside a broker it is part of the console, which says who asks, and adds the journal (broker.server.console_playground).
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ... import __version__
from ...console.files import PageFiles
from ...console.guard import PageGuard, asked, refused
from ...console.playground_pages import BODY_MAX, LARGER, UPLOAD
from ...events.file_form import FileForm
from ...events.names import checked_name
from .examples import EXAMPLES, example_file, example_text
from .trial import EVENTS_MAX, Chosen
from .worker import PlaygroundProcess

if TYPE_CHECKING:
    from ...events import StreamDefinition

UPLOADS_MAX: Final = 16
"""So many files of events are kept; then the oldest goes."""
TEXT_MAX: Final = 200_000
"""Characters of a subscription file in the editor."""
UPLOADING_MAX: Final = 2
"""So many files are taken at a time."""
WAITING_MAX: Final = 8
"""So many questions wait for the process; a further one is refused."""
HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERYBODY: Final = ""

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
    """What the page shows first. `events`: a file; `form`: how it is written, beyond what the text says."""

    text: str | None = None
    events: str | None = None
    stream: str | None = None
    time: str | None = None
    form: FileForm | None = None


@final
class Playground:
    """The files that may be read, by user and the names that the page uses for them, and the worker.

    `token`: that of the pages. `beside`: it is part of a broker's console.
    """

    def __init__(self, opening: Opening, folder: Path, token: str, beside: bool = False) -> None:
        self.opening = opening
        self.worker = PlaygroundProcess(beside)
        self.token = token
        self._beside = beside
        self._folder = folder
        self._files: dict[tuple[str, str], tuple[str, str]] = {}
        self._kept: list[tuple[str, str]] = []
        self._count = 0
        self._waiting = threading.Semaphore(WAITING_MAX)
        self._uploading = threading.Semaphore(UPLOADING_MAX)
        if not beside:
            threading.Thread(target=self.worker.start, daemon=True).start()
        if opening.events is not None:
            self._files[_EVERYBODY, "given"] = opening.events, opening.events
        for each in EXAMPLES:
            self._files[_EVERYBODY, f"example {each.name}"] = str(example_file(each.events)), each.events

    def session(self) -> dict[str, Any]:
        """What the page needs to begin."""
        given = {k: v for k, v in asdict(self.opening).items() if k not in ("events", "form")}
        return {
            "token": self.token,
            "version": __version__,
            "events_max": EVENTS_MAX,
            "examples": [{"name": each.name, "title": each.title()} for each in EXAMPLES],
            "console": self._beside,
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

    def new_file(self, name: str) -> tuple[Path, str]:
        """A place for a file of events that is called so: a name of ours with its suffixes. And how pages call it."""
        plain = Path(name.replace("\\", "/")).name[-100:]
        suffixes = "".join(each for each in Path(plain).suffixes[-2:] if each[1:].isalnum() and each.isascii())
        self._count += 1
        return self._folder / f"events-{self._count}{suffixes.lower()}", plain

    def keep(self, user: str, file: Path, called: str) -> dict[str, Any]:
        """Keep a file of events for a user; the oldest one of all goes if there are too many."""
        known = f"kept {file.stem}"
        self._files[user, known] = str(file), called
        self._kept.append((user, known))
        if len(self._kept) > UPLOADS_MAX:
            gone, _ = self._files.pop(self._kept.pop(0))
            Path(gone).unlink()
        return {"events": known, "file": called}

    async def upload(self, user: str, name: str, request: Request) -> dict[str, Any]:
        """Keep the file that a request brings. Raises HTTPException."""
        if not self._uploading.acquire(blocking=False):
            raise HTTPException(503, "other files are coming in; try again")
        try:
            file, called = self.new_file(name)
            try:
                with file.open("wb") as opened:
                    async for part in request.stream():
                        opened.write(part)
            except OSError as error:
                file.unlink(missing_ok=True)
                raise HTTPException(507, f"the file cannot be kept: {error.strerror or error}") from None
            except BaseException:
                file.unlink(missing_ok=True)
                raise
            return self.keep(user, file, called)
        finally:
            self._uploading.release()

    def journal(
        self, user: str, folder: Path, streams: Sequence[StreamDefinition], since: int, until: int
    ) -> dict[str, Any]:
        """Keep what a journal has of some streams for a user, of what arrived between two times. Raises
        HTTPException."""
        from .journal_events import text_of_streams

        called = f"{', '.join(each.name for each in streams)} from the journal"
        text = text_of_streams([replace(each, time_unit=None) for each in streams], called)
        file, _ = self.new_file("journal.jsonl")
        question = {"do": "journal", "folder": str(folder), "since": since, "until": until, "out": str(file)}
        found = self._asked({**question, "chosen": asdict(Chosen(text))})
        if "events" not in found:
            file.unlink(missing_ok=True)
            return found
        return {**self.keep(user, file, called), "taken": found["events"], "more": found["more"], "text": text}

    def ask(self, user: str, question: str, body: dict[str, Any]) -> dict[str, Any]:
        """An answer of the worker. Raises HTTPException."""
        fields = _QUESTIONS[question]
        missing = [name for name in fields if name in _REQUIRED and body.get(name) is None]
        if missing:
            raise HTTPException(400, f"expected {missing[0]}")
        if not all(type(each) is int for each in body.get("wanted") or ()):
            raise HTTPException(400, "wanted: expected numbers")
        chosen = self._chosen(user, body)
        asked = {name: body.get(name) for name in fields}
        return self._asked({**asked, "do": question, "chosen": asdict(chosen)})

    def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        if not self._waiting.acquire(blocking=False):
            raise HTTPException(503, "the playground is busy")
        try:
            return self.worker.ask(question)
        finally:
            self._waiting.release()

    def _chosen(self, user: str, body: dict[str, Any]) -> Chosen:
        text = body.get("text") or ""
        if len(text) > TEXT_MAX:
            raise HTTPException(413, f"expected at most {TEXT_MAX:,} characters of subscriptions")
        named = body.get("file")
        file = called = None
        if named is not None:
            found = self._files.get((_EVERYBODY, named)) or self._files.get((user, named))
            if found is None:
                raise HTTPException(404, "expected events that are still here; open the file again")
            file, called = found
        stream = body.get("stream") or None
        if stream is not None:
            checked_name(stream, "stream")
        form = asdict(self.opening.form) if named == "given" and self.opening.form is not None else None
        return Chosen(text, file, stream, body.get("time") or None, called, form)

    def routes(self, who: Callable[[Request], str]) -> list[Route]:
        """The answers to the page. `who`: the name of the user who asks, or raises HTTPException."""

        async def session(request: Request) -> Response:
            who(request)
            return JSONResponse(self.session())

        async def example(request: Request) -> Response:
            who(request)
            return JSONResponse(self.example(request.path_params["name"]))

        async def upload(request: Request) -> Response:
            user, name = who(request), request.query_params.get("name", "events.jsonl")
            return JSONResponse(await self.upload(user, name, request))

        async def ask(request: Request) -> Response:
            user, question = who(request), request.path_params["question"]
            if question not in _QUESTIONS:
                raise HTTPException(404, "not here")
            body = await asked(request, {"text": str, "file": str, "stream": str, "time": str, **_QUESTIONS[question]})
            return JSONResponse(await run_in_threadpool(self.ask, user, question, body))

        return [
            Route("/playground/session", session),
            Route("/playground/examples/{name}", example),
            Route(UPLOAD, upload, methods=["POST"]),
            Route("/playground/ask/{question}", ask, methods=["POST"]),
        ]


def application(playground: Playground) -> Starlette:
    """The playground alone, for whoever is at this machine."""
    pages = PageFiles(["broker.console"])
    return Starlette(
        routes=[*pages.routes({"/": "playground.html"}), *playground.routes(lambda request: _EVERYBODY)],
        middleware=[Middleware(PageGuard, token=playground.token, hosts=HOSTS, body_max=BODY_MAX, larger=LARGER)],
        exception_handlers={HTTPException: refused},
    )


@contextmanager
def playground_of_console(token: str) -> Iterator[Playground]:
    """The playground as a part of a broker's console, with nothing opened; `token`: that of its pages."""
    with folder() as uploads:
        made = Playground(Opening(), Path(uploads), token, beside=True)
        try:
            yield made
        finally:
            made.worker.close()


def folder() -> tempfile.TemporaryDirectory[str]:
    """Where files of events are kept while the playground runs."""
    return tempfile.TemporaryDirectory(prefix="foretell-playground-")
