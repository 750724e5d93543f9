"""SASE+, sequences with repetition and negation: parses and prints its texts.

`grammar.lark` and `parser` read a text, `syntax` has the nodes, `printer` writes them. Not here: the meaning of a query
(broker.algebra.sase) and its compilation (broker.engine.languages.sase).
"""

from __future__ import annotations

from .parser import parse
from .printer import print_query

__all__ = ["parse", "print_query"]
