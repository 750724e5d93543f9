"""AFA, register automata over disordered streams: parses and prints its texts.

`grammar.lark` and `parser` read a text, `syntax` has the nodes, `printer` writes them. Not here: the meaning of a query
(broker.algebra.afa).
"""

from __future__ import annotations

from .parser import parse, parse_arc
from .printer import print_arc, print_query

__all__ = ["parse", "parse_arc", "print_arc", "print_query"]
