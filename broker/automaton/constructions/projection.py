"""SELECT: other values on the open arc; states and guards are unchanged."""

from __future__ import annotations

from dataclasses import replace

from ...algebra.operators import Projection
from ..fragment import Fragment


def project(operator: Projection, fragment: Fragment) -> Fragment:
    return replace(fragment, values=tuple(fragment.read(term) for _, term in operator.items))
