"""Run `foretell` as `python -m broker.command`, for environments where the console script is not on the path."""

from __future__ import annotations

from .shell import main

main()
