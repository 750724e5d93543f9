"""Converts Spark's errors into ForetellErrors of one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from broker.events import ERRORS, DefinitionError, ForetellError

_OURS: Final[dict[str, type[ForetellError]]] = {kind.__name__: kind for kind in ERRORS.values()}
# The last line of a worker's traceback, if it is a ForetellError.
_TOLD: Final = re.compile(rf"^(?:broker\.events\.errors\.)?({'|'.join(_OURS)}): (.+)$", re.MULTILINE)
_FILE: Final = re.compile(r"(?:Encountered error while reading file|Could not read footer for file:?) (\S+)")


@contextmanager
def plainly(what: str) -> Iterator[None]:
    """Convert Spark's errors within the block: to the ForetellError that a worker raised, else to DefinitionError.

    `what`: the activity, with which the text of Spark's own error begins.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise ours(what, str(error)) from error


def ours(what: str, message: str) -> ForetellError:
    """The error for the message of a failed job."""
    told = _TOLD.search(message)
    if told is not None:
        kind = _OURS[told.group(1)]
        return kind(told.group(2).strip())
    file = _FILE.search(message)
    if file is not None:
        name = file.group(1).rstrip(".")
        return DefinitionError(f"{what}: expected a file that can be read, found it damaged: {name}")
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return DefinitionError(f"{what}: Spark: {lines[0] if lines else 'the job failed'}")
