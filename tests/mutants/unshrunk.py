"""A plugin for pytest: properties that fail do not look for smaller examples. They try the same ones as without it."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """After the profile was chosen, and before properties read it."""
    settings.register_profile("unshrunk", parent=settings(), phases=[Phase.explicit, Phase.generate, Phase.target])
    settings.load_profile("unshrunk")
