"""`foretell keygen`: writes a new pair of keys to a file that only its owner can read, and prints the public key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..events import DefinitionError
from .complaint import BadInput


def keygen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    server: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="For a client: the broker's public key, or the broker's own file of keys."),
    ] = None,
) -> None:
    """Make keys for a broker, or for a client of the broker whose key is given, and print the public key."""
    from zmq import curve_keypair

    from ..wire.keys import Keys, written_keys

    trusted = None if server is None else server_key(server)
    public, secret = (key.decode() for key in curve_keypair())
    text = written_keys(Keys(public, secret, trusted), "a broker" if server is None else "a client")
    # The file is created with mode 600, so that others cannot read it at any moment.
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput(f"{file}: exists already, and keys are not overwritten") from None
    with open(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    print(public)


def server_key(written: str) -> str:
    """Return the public key given as text or as a file. Raises DefinitionError."""
    from ..wire.keys import checked_key, read_keys

    try:
        return checked_key(written, "--server")
    except DefinitionError:
        if not Path(written).exists():
            raise
    return read_keys(Path(written)).public
