"""The entry point: the list of commands, and how an error becomes one line and an exit status.

Exit status 0; 2 for bad input or usage, with one line on standard error; 130 after Ctrl-C; 1 if the reader of the
output has closed it. An excerpt of the query follows only on a terminal. A traceback is a bug of Foretell.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from .. import __version__
from ..build import build
from ..events.errors import ForetellError, QueryError
from .administration import (
    add_attribute,
    close_session,
    cursors,
    delete_stream,
    delete_subscription,
    forget,
    move_cursor,
    replace_subscription,
    sessions,
)
from .archive import archive
from .backtest import backtest
from .backup import backup
from .check import check
from .complaint import BadInput, escaped, of_file, one_line
from .completion import answer_completions, completion
from .console_token import console_token
from .dead_letters import dead_letters
from .demo.command import demo
from .doctor import doctor
from .explain import explain
from .fsck import fsck
from .keygen import keygen
from .language_server import language_server
from .listing import stats, streams, subscriptions
from .new import new
from .partial import partial
from .playground.command import playground
from .prepare import prepare
from .probability import probability
from .publish import publish
from .reset_time import reset_time
from .restore import restore
from .run import run
from .serve import serve
from .subscribe import subscribe
from .tail import tail
from .top import top
from .train import train
from .update import update
from .why import why
from .why_not import why_not

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

shell = typer.Typer(
    name="foretell",
    help="A broker for patterns over many events, and its embedded engine.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)
for command in (
    run,
    new,
    check,
    explain,
    why,
    why_not,
    partial,
    playground,
    serve,
    keygen,
    console_token,
    publish,
    subscribe,
    streams,
    subscriptions,
    update,
    probability,
    replace_subscription,
    delete_subscription,
    add_attribute,
    delete_stream,
    sessions,
    close_session,
    cursors,
    move_cursor,
    forget,
    dead_letters,
    tail,
    reset_time,
    stats,
    top,
    doctor,
    archive,
    prepare,
    train,
    backtest,
    fsck,
    backup,
    restore,
    completion,
    language_server,
    demo,
):
    shell.command()(command)


@shell.callback(invoke_without_command=True)
def entrance(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and how it was built.")] = False,
) -> None:
    """A broker whose subscriptions are patterns over many events, and its embedded engine."""
    if version:
        typer.echo(f"foretell {__version__} ({build()})")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def perform(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, by default that of this process, and return its exit status."""
    answer_completions()
    try:
        status = shell(args=arguments, prog_name="foretell", standalone_mode=False)
    except ForetellError as error:
        _complain(str(error), error.excerpt if isinstance(error, QueryError | BadInput) else "")
        return BAD_INPUT
    except typer.TyperException as error:
        _complain(getattr(error, "format_message", error.__str__)())
        return BAD_INPUT
    except OSError as error:
        _complain(of_file(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def main() -> None:
    """The console script."""
    sys.exit(perform())


def _complain(message: str, excerpt: str = "") -> None:
    sys.stdout.flush()  # results before an error are printed before the error
    print(f"foretell: {one_line(message)}", file=sys.stderr)
    if excerpt and sys.stderr.isatty():
        print("\n".join(map(escaped, excerpt.split("\n"))), file=sys.stderr)
