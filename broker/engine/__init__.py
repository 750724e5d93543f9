"""Matching: the compiled program, its runtime, and `Engine`, the embedded API.

Here: everything between an event and its matches. Not here: sockets, clocks, files (except `Engine.load`), languages.
Importing this package loads neither zmq nor asyncio nor Spark; a test checks this.
"""

from __future__ import annotations

from ..documenting import documented
from ..events.coded_texts import CodedTexts
from .engine import Engine
from .match import Match
from .matches.result_table import ResultTable
from .options import Options
from .results import Results

for _public in (CodedTexts, Engine, Match, ResultTable, Results):
    documented(_public)

__all__ = ["CodedTexts", "Engine", "Match", "Options", "ResultTable", "Results"]
