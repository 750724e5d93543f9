"""CEL's row of the table: operators of the algebra, with one form for all texts that differ in literals only."""

from __future__ import annotations

from typing import Final

from ...algebra.cayuga.lowering import lower
from ...language.cayuga import parse, print_query
from ...language.cayuga.syntax import reads
from .language import Language
from .operators import compiling, compiling_shapes

CAYUGA: Final = Language(
    name="cayuga",
    parse=parse,
    print=print_query,
    reads=reads,
    compile=compiling(lower, print_query),
    compile_shape=compiling_shapes(lower, print_query),
    lineage=False,
    forecasts=True,
)
