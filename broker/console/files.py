"""The files of pages: read once, found by name in folders of the package, sent with their type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final, final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..automaton.diagram.svg import STYLE

TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@final
class PageFiles:
    """The files of these packages' folders `assets`, by name, and the style sheet of diagrams."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        for package in packages:
            for each in files(package).joinpath("assets").iterdir():
                kind = TYPES.get(each.name[each.name.rfind(".") :])
                if kind is not None:
                    self._files[each.name] = kind, each.read_bytes()
        self._files["diagram.css"] = "text/css", f".diagram {{{STYLE}\n}}\n".encode()

    def page(self, name: str) -> Response:
        """A file by its name. Raises HTTPException: 404."""
        found = self._files.get(name)
        if found is None:
            raise HTTPException(404, "not here")
        return Response(found[1], media_type=found[0])

    def routes(self, pages: Mapping[str, str]) -> list[Route]:
        """The routes of all files below /assets/, and of pages: path to file."""

        async def asset(request: Request) -> Response:
            return self.page(request.path_params["name"])

        async def page(request: Request) -> Response:
            return self.page(pages[request.scope["path"]])

        return [Route("/assets/{name}", asset), *(Route(path, page) for path in pages)]
