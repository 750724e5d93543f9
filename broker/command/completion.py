"""`foretell completion`: prints the script by which a shell completes commands and options."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from ..events import DefinitionError, suggestion

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_FORETELL_COMPLETE"
_PROGRAM: Final = "foretell"


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.", show_default=False)],
) -> None:
    """Print the script that makes a shell complete commands and options: `eval "$(foretell completion bash)"`."""
    if shell not in SHELLS:
        raise DefinitionError(f"expected {', '.join(SHELLS)}, found {shell!r}{suggestion(shell, SHELLS)}")
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell))


def answer_completions() -> None:
    """Let the program answer what that script asks; it asks by an environment variable."""
    import os

    if _VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
