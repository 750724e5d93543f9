"""`foretell playground`: write subscriptions in a browser, and see at once what they find in some events."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from ...events.errors import ForetellError
from ...events.file_form import FileForm
from ..complaint import BadInput
from ..loading import text_of
from ..reading import AS_DECLARED, FormOptions, StreamOption, TimeOption, with_form_options

PORT: Final = 5590


@with_form_options
def playground(
    subscriptions: Annotated[
        Path | None, typer.Argument(metavar="SUBS.toml", help="What the editor shows first.", show_default=False)
    ] = None,
    events: Annotated[str | None, typer.Option("--events", metavar="FILE", help="The events to try it on.")] = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    form: FormOptions = AS_DECLARED,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="The port; 0 takes a free one.")] = PORT,
) -> None:
    """Try subscriptions in a browser: matches, mistakes and diagrams while you type, without a broker."""
    try:
        from ...console.guard import new_token
        from ...console.serving import serve_here
        from .application import Opening, Playground, application, folder
    except ImportError:
        raise BadInput(
            "this command needs starlette and uvicorn, which are not installed: pip install 'foretell[console]'"
        ) from None
    text = None if subscriptions is None else text_of(subscriptions)
    if events is not None and not Path(events).is_file():
        raise BadInput(f"{events}: expected a file of events, found none")
    said: FileForm | None = form.said()
    if subscriptions is None and events is not None:
        text, stream, time = _first(events, stream, time, said)
        said = said if text is None else None  # the text says it
    opening = Opening(text, events, stream, time, said)
    with folder() as uploads:
        serving = Playground(opening, Path(uploads), new_token())
        try:
            serve_here(application(serving), port, lambda address: typer.echo(f"playground at {address}"))
        finally:
            serving.worker.close()


def _first(
    events: str, stream: str | None, time: str | None, form: FileForm | None
) -> tuple[str | None, str | None, str | None]:
    """A first subscription file for the events, if there can be one."""
    from .trial import Chosen, first_text

    try:
        found = first_text(Chosen("", events, stream, time, form=None if form is None else asdict(form)))
    except ForetellError:
        return None, stream, time
    return found["text"], found["stream"], found["time"]
