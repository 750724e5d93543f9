"""`python -m broker.command` is `foretell`, also where the console script is not on the path."""

from __future__ import annotations

from .shell import main

main()
