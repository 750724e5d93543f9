"""What every test shares: hypothesis's profiles and a seed that is always shown. No fixtures belong here.

``dev`` (the default) is quick; ``ci`` tries ten times as many examples. A property that needs more than its share
multiplies what the profile says, ``@settings(max_examples=4 * settings().max_examples)``: so it stays quick in dev.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, settings

# No deadlines: how long an example takes on a shared machine is not a property of the code.
settings.register_profile("dev", max_examples=50, print_blob=True, derandomize=False, deadline=None)
settings.register_profile(
    "ci", parent=settings.get_profile("dev"), max_examples=500, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the seed before hypothesis looks for one; the workers of pytest-xdist inherit it as an option."""
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    profile = config.getoption("--hypothesis-profile") or os.environ.get("HYPOTHESIS_PROFILE", "dev")
    seed = config.getoption("--hypothesis-seed")
    terminalreporter.write_line(f"hypothesis: HYPOTHESIS_PROFILE={profile}, repeat with --hypothesis-seed={seed}")
