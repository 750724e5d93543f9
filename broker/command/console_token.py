"""`foretell console-token`: makes a token with which a user of a broker signs in to its console."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer


def console_token(
    user: Annotated[str, typer.Argument(metavar="USER", help="The user of the broker, as in its configuration.")],
    tokens: Annotated[Path, typer.Option("--tokens", metavar="FILE", help="The file of console.tokens.")],
) -> None:
    """Make a token for a user, print it once, and add its digest to the file; a line that is removed ends a token."""
    from ..console.signing_in import digest, read_tokens
    from ..kernel import User

    User(user)  # refuses what is no name
    if tokens.exists():
        read_tokens(tokens)
    token = secrets.token_urlsafe(24)
    descriptor = os.open(tokens, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(f"{user} {digest(token)}\n")
    typer.echo(token)
