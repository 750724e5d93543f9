"""CEL's row of the table: operators of the algebra, whose automata are merged into one program."""

from __future__ import annotations

from typing import Final

from ...algebra.cayuga.lowering import lower
from ...language.cayuga import parse, print_query
from ...language.cayuga.syntax import followers, reads
from .language import Language
from .operators import compiling

CAYUGA: Final = Language(
    name="cayuga",
    parse=parse,
    print=print_query,
    reads=reads,
    compile=compiling(lower),
    lineage=False,
    forecasts=True,
    followers=followers,
)
