"""What a burst of large frames took is given back, where there is a way to say so."""

from __future__ import annotations

import ctypes

import pytest
from doubles.broker_process import python_process

from broker.server.allocation import give_large_blocks_back

# Blocks between small ones that live on, as frames come in between other things.
BURST = """
    import os
    from broker.server.allocation import give_large_blocks_back
    give_large_blocks_back()
    first = bytearray(1 << 20)
    del first
    kept = []
    large = []
    for _ in range(100):
        large.append(b"x" * (1 << 20))
        kept.append(b"y" * 600)
    before = int(open("/proc/self/statm").read().split()[1])
    del large
    after = int(open("/proc/self/statm").read().split()[1])
    print((before - after) * os.sysconf("SC_PAGE_SIZE") >> 20, flush=True)
"""


def test_a_burst_is_given_back() -> None:
    with python_process(BURST) as process:
        out, complaint = process.communicate(timeout=60)
    assert complaint == ""
    if hasattr(ctypes.CDLL(None), "mallopt"):
        assert int(out) >= 90


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert give_large_blocks_back() is False
